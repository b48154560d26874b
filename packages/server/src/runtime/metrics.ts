import { Counter } from 'prom-client'
import { observe, type Registry } from '../platform/metrics.ts'
import type { SandboxRuntime } from './sandbox/sandbox-runtime.ts'
import type { WorkerRuntime } from './worker/worker-runtime.ts'

/** Processes of workerd and what is in them, for Prometheus. */
export function measureWorker(registry: Registry, worker: WorkerRuntime): void {
  observe(registry, 'trellis_worker_processes', 'Processes of workerd', () => worker.processes)
  observe(registry, 'trellis_worker_isolates', 'Modules that are loaded in them', () => worker.isolates)
  observe(registry, 'trellis_worker_runs_waiting', 'Runs that wait for a process', () => worker.waiting)
  const { counts } = worker
  total(registry, 'trellis_worker_process_starts_total', 'Processes of workerd by how their start went', {
    label: 'outcome',
    read: () => ({ started: counts.started, failed: counts.failedStarts }),
  })
  total(registry, 'trellis_worker_processes_killed_total', 'Processes ended because of what was in them', {
    read: () => ({ '': counts.killed }),
  })
  total(registry, 'trellis_worker_modules_loaded_total', 'Modules that were loaded', {
    read: () => ({ '': counts.loaded }),
  })
}

/** Sandboxes and the trees they are given, for Prometheus. */
export function measureSandbox(registry: Registry, sandbox: SandboxRuntime): void {
  observe(registry, 'trellis_sandboxes_running', 'Runs in a sandbox', () => sandbox.running)
  observe(registry, 'trellis_sandbox_tree_bytes', 'Files of commits that are kept', () => sandbox.treeBytes)
  const { treeCounts } = sandbox
  total(registry, 'trellis_sandbox_trees_total', 'Trees that runs were given, by whether they were there', {
    label: 'how',
    read: () => ({ ...treeCounts }),
  })
}

interface Total {
  /** Without one there is a single number. */
  label?: string
  read(): Record<string, number>
}

/** What is counted elsewhere, looked at when Prometheus asks. */
function total(registry: Registry, name: string, help: string, { label, read }: Total): void {
  new Counter({
    name,
    help,
    labelNames: label ? [label] : [],
    registers: [registry],
    collect() {
      this.reset()
      for (const [value, count] of Object.entries(read())) this.inc(label ? { [label]: value } : {}, count)
    },
  })
}
