import * as z from 'zod'
import { defaulted, originUrl, setting, text, wholeNumber } from './kinds.ts'

/** Where the server is and what it keeps. */
export const serverSettings = {
  TRELLIS_LISTEN: defaulted(
    'Address and port to listen on. Port 0 takes a free one.',
    '127.0.0.1:8787',
    z
      .string()
      .regex(/^(.+):(\d{1,5})$/, 'must look like 127.0.0.1:8787')
      .transform((value) => {
        const colon = value.lastIndexOf(':')
        return {
          host: value.slice(0, colon).replaceAll(/[[\]]/g, ''),
          port: Number(value.slice(colon + 1)),
        }
      })
      .refine(({ port }) => port <= 65_535, 'must have a port up to 65535'),
  ),
  TRELLIS_BASE_URL: setting(
    'Where clients reach the server, for links and remotes: scheme and host, without a path. Set it behind a proxy. Default: the address listened on.',
    originUrl,
  ),
  TRELLIS_DATA: defaulted('Directory of everything the server keeps on disk.', './data', text),
  TRELLIS_DATABASE_URL: setting(
    'A PostgreSQL URL. Default: SQLite in the data directory.',
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, { error: 'must begin with postgres:// or postgresql://', abort: true })
      .refine(
        URL.canParse,
        'must be a URL, with what is special in the password written as %40 and the like',
      ),
  ),
  TRELLIS_DATABASE_POOL: defaulted('Connections to PostgreSQL, per process.', '10', wholeNumber(2, 1000)),
  TRELLIS_DATABASE_WAIT_SECONDS: defaulted(
    'How long a start waits for a PostgreSQL that cannot be reached.',
    '60',
    wholeNumber(0, 86_400),
  ),
  TRELLIS_SECRET: setting(
    'Key for sessions and for what is encrypted at rest; the same for every process over one database. Default: made at the first start and kept in the data directory as `server.key`.',
    z.string().min(32, 'must have at least 32 characters'),
  ),
}
