#!/bin/sh
# In a mount namespace of its own: joins the control groups that are given first, puts all that a run may see below /tmp,
# where any user finds it, and becomes bubblewrap. Everything the run writes is on one tmpfs of a fixed size, which is gone
# when the last process of the namespace is. Paths are relative, so that the name of a directory cannot be taken for an
# option of a mount.
set -eu
# The server keeps what it writes to itself; what a run writes is its own.
umask 022
while [ "$1" != -- ]; do
  echo 0 > "$1"
  shift
done
shift
# Where the machine runs out of memory, the server is not what goes.
echo 1000 2> /dev/null > /proc/self/oom_score_adj || :
ulimit -c 0
ulimit -n "$OPEN_FILES"
stage=$RUN/stage
mount -n -t tmpfs -o "size=$BYTES,nr_inodes=$FILES,mode=0755,nosuid,nodev" sandbox "$stage"
cp -a skeleton/. "$stage"
if [ "$VIEW" = overlay ]; then
  mount -n -t overlay -o "nosuid,nodev,lowerdir=$TREE,upperdir=$stage/upper,workdir=$stage/work$OVERLAY_OPTIONS" \
    overlay "$stage/tree"
else
  cp -a "$TREE/." "$stage/tree"
fi
mount -n --bind "$NODE" "$stage/node"
exec 9< filter
mount -n --move "$stage" /tmp
# What bubblewrap is started with can be seen inside.
unset RUN TREE NODE VIEW OVERLAY_OPTIONS BYTES FILES OPEN_FILES PWD OLDPWD
exec "$@"
