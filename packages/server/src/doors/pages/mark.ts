import { html } from './html.ts'

const DRAWING = 'M3 2v12M8 2v12M13 2v12M1.5 5h13M1.5 11h13'

/** The sign above every page. It takes its colour from there. */
export const mark = html`<svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true"><path d="${DRAWING}"/></svg>`

/** The same beside the name of a page in the browser's own lists, which have grounds of all colours. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><title>Trellis</title><path d="${DRAWING}" fill="none" stroke="#2f8f5b" stroke-width="1.6" stroke-linecap="round"/></svg>`
