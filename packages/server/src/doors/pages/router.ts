import type { Door, Route, Routes } from '../http/door.ts'
import { notFound, wrongMethod } from '../http/failure.ts'

/** Answers by method and path; paths that are not listed go to `otherwise`. */
export function createRouter(routes: Routes, otherwise?: Route): Door['handle'] {
  const known = new Set(Object.keys(routes).map((route) => route.slice(route.indexOf(' ') + 1)))

  return (exchange) => {
    const { path, request } = exchange
    const method = answeredAs(request.method)
    const pattern = known.has(path) ? path : `${path.slice(0, path.indexOf('/', 1))}/*`
    if (!known.has(pattern)) {
      if (otherwise) return otherwise(exchange)
      throw notFound()
    }
    exchange.route = pattern
    const route = routes[`${method} ${pattern}`]
    if (!route)
      throw wrongMethod(
        ['GET', 'HEAD', 'POST'].filter((other) => `${answeredAs(other)} ${pattern}` in routes).join(', '),
      )
    return route(exchange)
  }
}

/** HEAD asks for what GET would answer, without the body. */
const answeredAs = (method: string | undefined) => (method === 'HEAD' ? 'GET' : method)
