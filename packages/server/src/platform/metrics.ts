import { collectDefaultMetrics, Gauge, Registry as PromRegistry } from 'prom-client'
import { VERSION } from './version.ts'

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
  new Gauge({
    name: 'trellis_build_info',
    help: 'Always 1; the label says which version runs',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1)
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

/**
 * A number that takes a while to find out. Prometheus is told what was found the last time it asked, and a new look
 * begins: a disk or a database that does not answer keeps nobody waiting.
 */
export function observeLately(
  registry: Registry,
  { name, help }: { name: string; help: string },
  look: () => Promise<number>,
): void {
  let isLooking = false
  async function begin(): Promise<void> {
    if (isLooking) return
    isLooking = true
    try {
      gauge.set(await look())
    } catch {
      gauge.remove()
    } finally {
      isLooking = false
    }
  }
  const gauge = new Gauge({ name, help, registers: [registry], collect: () => void begin() })
  // Nothing is better than the 0 it begins with.
  gauge.remove()
  void begin()
}
