/** What the wrapper is handed for one run, and what the porter calls of it. All of it crosses between isolates. */
export interface Wrapper {
  perform(order: string, call: CallStub, aborted: () => Promise<string>): Promise<unknown>
}

/** Takes `[method, arguments]` and gives a `CallAnswer`, both as JSON. To nothing the answer is nothing. */
export type CallStub = (asked: string) => Promise<string>
