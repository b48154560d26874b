import * as z from 'zod'
import { isAddressRange } from '../addresses.ts'
import { defaulted, httpUrl, list, setting, text } from './kinds.ts'

/** Whom the server believes, and whom it connects to. */
export const networkSettings = {
  TRELLIS_TRUSTED_PROXIES: defaulted(
    'Addresses and CIDR ranges, comma-separated, whose `X-Forwarded-For` is believed.',
    '',
    list.refine((entries) => entries.every(isAddressRange), 'must be IP addresses or CIDR ranges'),
  ),
  TRELLIS_CORS_ORIGINS: defaulted(
    'Origins, comma-separated, whose pages may call the API and git from a browser.',
    '',
    list.pipe(z.array(httpUrl)),
  ),
  TRELLIS_EGRESS_ALLOW: defaulted(
    'Hosts and CIDR ranges, comma-separated, that imports, webhooks and extensions may reach although they are not public addresses.',
    '',
    list.refine(
      (entries) => entries.every((entry) => !entry.includes('/') || isAddressRange(entry)),
      'must be host names, IP addresses or CIDR ranges',
    ),
  ),
  TRELLIS_CA_FILE: setting(
    'A file with certificates of authorities, in PEM, that are believed beside the usual ones: by webhooks, imports, extensions and whatever else the server connects to.',
    text,
  ),
}
