// Makes HTML of Markdown. Away from the page, which can end it: some texts take a parser for ever.

import { marked } from 'marked'

/** The policy of the page complains of styles even where nothing is drawn, so they do not get that far. */
const withoutStyles = (html: string): string =>
  html.replace(/<[^>]*>/g, (tag) =>
    tag.replace(/^<(\/?)style/i, '<$1template').replace(/([\s"'/])style(?=\s*=)/gi, '$1data-style'),
  )

marked.use({ renderer: { html: ({ text }) => withoutStyles(text) } })

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(marked.parse(data, { async: false, gfm: true }))
})
