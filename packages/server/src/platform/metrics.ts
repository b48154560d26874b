import { collectDefaultMetrics, Gauge, Registry as PromRegistry } from 'prom-client'

/** Of metrics that the library keeps, and of some that are counted too often for it. */
export class Registry extends PromRegistry {
  readonly #texts: (() => string)[] = []

  /** Adds what `text` gives whenever somebody reads. */
  write(text: () => string): void {
    this.#texts.push(text)
  }

  override async metrics(): Promise<string> {
    return [await super.metrics(), ...this.#texts.map((text) => `${text()}\n`)].join('\n')
  }
}

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
