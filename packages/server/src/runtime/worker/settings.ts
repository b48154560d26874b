// How a workerd process is set up: one service that the server talks to, one way back to it, nothing else.

/** Before Node's modules were there unasked. What modules get of the language does not depend on it. */
const COMPATIBILITY = {
  date: '2026-08-01',
  // Tells which of several runs is speaking.
  flags: ['nodejs_als'],
}

export const FILES = { config: 'config.capnp', porter: 'porter.js', wrapper: 'wrapper.js' } as const
/** In the directory of the process, which is its working directory: no path is longer than a socket's may be. */
export const SOCKETS = { in: 'in.sock', out: 'out.sock' } as const

export const configOf = ({ heapMb }: { heapMb: number }): string => `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = ["--max-heap-size=${heapMb}", "--expose-gc"],
  services = [
    (name = "porter", worker = (
      modules = [(name = "porter.js", esModule = embed "${FILES.porter}")],
      compatibilityDate = "${COMPATIBILITY.date}",
      compatibilityFlags = ["experimental"],
      bindings = [
        (name = "LOADER", workerLoader = (id = "modules")),
        (name = "HOST", service = "host"),
        (name = "WRAPPER", text = embed "${FILES.wrapper}"),
        (name = "COMPATIBILITY", json = ${JSON.stringify(JSON.stringify(COMPATIBILITY))}),
      ],
      globalOutbound = "internet",
    )),
    (name = "host", external = (address = "unix:${SOCKETS.out}", http = ())),
    # Would be there by itself, and lead everywhere.
    (name = "internet", network = (allow = [])),
  ],
  sockets = [(name = "in", address = "unix:${SOCKETS.in}", http = (), service = "porter")],
);
`
