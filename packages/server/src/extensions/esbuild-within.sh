#!/bin/sh
# Runs esbuild with no more memory than it may have: what a module makes it allocate must not cost the host.
# Where the shell knows no such limit, the process is still ended when its time is over.
ulimit -v "$BUILD_MEMORY_KB" 2>/dev/null
exec "$BUILD_ESBUILD" "$@"
