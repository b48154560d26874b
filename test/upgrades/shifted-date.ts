/**
 * Has this process live at another time, until it is disposed of. Sessions, codes and invites in a fixture are good for hours or days after it was
 * made; libraries that look at them ask `Date`, whatever clock the server is given.
 */
export function liveAt(time: number): Disposable {
  const offset = time - RealDate.now()
  const now = () => RealDate.now() + offset
  globalThis.Date = new Proxy(RealDate, {
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    construct: (target, args) => (args.length > 0 ? Reflect.construct(target, args) : new target(now())),
    apply: () => new RealDate(now()).toString(),
  })
  return {
    [Symbol.dispose]() {
      globalThis.Date = RealDate
    },
  }
}

const RealDate = globalThis.Date
