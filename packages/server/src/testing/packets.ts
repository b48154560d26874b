/** Between the parts of a request; it is only read here, and written again as one of many. */
export const DELIM_PACKET = Buffer.from('0001')
