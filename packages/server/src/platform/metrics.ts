import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

export type { Registry } from 'prom-client'

/** What Prometheus reads: a registry of its own for every server. Each room adds what it knows about itself. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'trellis_' })
  return registry
}

/** A number that is looked at when Prometheus asks. */
export function observe(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}
