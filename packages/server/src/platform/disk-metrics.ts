import { statfs } from 'node:fs/promises'
import { observeInTime, type Registry } from './metrics.ts'

interface Watched {
  dataDir: string
  database: { bytes(): Promise<number> }
}

/** How large the disk of the data directory is, what is left there, and what the database takes, there or elsewhere. */
export function watchDisk(registry: Registry, { dataDir, database }: Watched): void {
  observeInTime(
    registry,
    { name: 'trellis_disk_size_bytes', help: 'Size of the disk that the data directory is on' },
    async () => {
      const { blocks, bsize } = await statfs(dataDir)
      return blocks * bsize
    },
  )
  observeInTime(
    registry,
    { name: 'trellis_disk_free_bytes', help: 'What is left on that disk for the server' },
    async () => {
      const { bavail, bsize } = await statfs(dataDir)
      return bavail * bsize
    },
  )
  observeInTime(registry, { name: 'trellis_database_bytes', help: 'Size of the database' }, database.bytes)
}
