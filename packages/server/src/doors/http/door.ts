import type { Exchange } from './exchange.ts'

/** What is there of a door before it opens: where it is, and how it says no. */
export interface DoorFront {
  /** Whether a path leads to it. */
  serves(path: string): boolean
  /** Tells the client what went wrong, in the words of this door. Nothing has been sent before. */
  refuse(exchange: Exchange, error: unknown): void
}

/** Where requests of one kind come in. */
export interface Door extends DoorFront {
  handle(exchange: Exchange): Promise<void> | void
}

/** Answers one path. */
export type Route = Door['handle']

/** By method and path, `GET /limits`. A path that ends in `/*` stands for all below it. */
export type Routes = Record<string, Route>
