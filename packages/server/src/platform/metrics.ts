import { setTimeout as sleep } from 'node:timers/promises'
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

/** Long enough for what answers at all, and well within the patience of Prometheus. */
const LOOK_MS = 1_000

/**
 * A number that takes a while to find out when Prometheus asks. A disk or a database that does not answer keeps nobody
 * waiting for long: then the number is what was found the last time.
 */
export function observeInTime(
  registry: Registry,
  { name, help }: { name: string; help: string },
  look: () => Promise<number>,
): void {
  /** One at a time: what does not answer is not asked more and more. */
  let looking: Promise<void> | undefined
  async function update(): Promise<void> {
    try {
      gauge.set(await look())
    } catch {
      gauge.remove()
    } finally {
      looking = undefined
    }
  }
  const gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      looking ??= update()
      await Promise.race([looking, sleep(LOOK_MS, undefined, { ref: false })])
    },
  })
  // Nothing is better than the 0 it begins with.
  gauge.remove()
}

/** What a gauge says now, all its labels together; null where there is none, or nobody knows. */
export async function readMetric(registry: Registry, name: string): Promise<number | null> {
  const metric = await registry.getSingleMetric(name)?.get()
  if (!metric || metric.values.length === 0) return null
  return metric.values.reduce((sum, { value }) => sum + value, 0)
}
