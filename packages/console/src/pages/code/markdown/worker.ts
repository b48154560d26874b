// Makes HTML of Markdown. Away from the page, which can end it: some texts take a parser for ever.

import { marked } from 'marked'

/** The policy of the page complains of styles and handlers even where nothing is drawn or run: they do not get that far. */
const withoutWhatIsRefused = (html: string): string =>
  html.replace(/<[^>]*>/g, (tag) =>
    tag.replace(/^<(\/?)style/i, '<$1template').replace(/([\s"'/])(style|on\w+)(?=\s*=)/gi, '$1data-$2'),
  )

marked.use({ renderer: { html: ({ text }) => withoutWhatIsRefused(text) } })

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(marked.parse(data, { async: false, gfm: true }))
})
