import { Fragment, type JSX, type ReactNode } from 'react'
import { reachable } from '../../../ui/reachable.ts'
import { CodeBlock } from './CodeBlock.tsx'
import { ImageIn, LinkTo } from './links.tsx'
import styles from './Markdown.module.css'
import { headingId, slugOf } from './targets.ts'

// What a text may have on the page. Nothing of its HTML gets there as it is: elements are made anew, of these kinds, with
// these attributes. Whatever else it has falls away, and what only frames words leaves the words.

export interface Text {
  org: string
  name: string
  ref: string
  commit: string
  path: string
}

interface Within {
  text: Text
  /** Slugs that headings have already. */
  slugs: Map<string, number>
  inLink: boolean
}

const PLAIN = new Set<string>(
  'p br hr strong em b i u s del ins sub sup kbd samp var abbr mark small q cite dfn blockquote ul ol li dl dt dd div span section center figure figcaption details summary table caption thead tbody tfoot tr th td code tt wbr ruby rt rp'.split(
    ' ',
  ),
)
const VOID = new Set(['br', 'hr', 'wbr'])
/** Old names of what there are better ones for. */
const INSTEAD: Record<string, string> = { center: 'div', tt: 'code' }
/** Their words are no words of the text. */
const SILENT = new Set<string>(
  'script style template iframe frame frameset object embed noscript noembed svg math title head textarea select option button audio video canvas map area form fieldset dialog'.split(
    ' ',
  ),
)

export function elementsOf(root: ParentNode, text: Text): ReactNode {
  return childrenOf(root, { text, slugs: new Map(), inLink: false })
}

function childrenOf(parent: ParentNode, within: Within): ReactNode[] {
  return [...parent.childNodes].map((node, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they never change.
    <Fragment key={index}>{nodeOf(node, within)}</Fragment>
  ))
}

function nodeOf(node: ChildNode, within: Within): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue
  if (!(node instanceof HTMLElement)) return null
  const tag = node.localName
  if (SILENT.has(tag)) return null
  if (/^h[1-6]$/.test(tag)) return headingOf(node, within)
  if (tag === 'pre') return blockOf(node)
  if (tag === 'a') return linkOf(node, within)
  if (tag === 'img') return imageOf(node, within)
  if (tag === 'input') return checkboxOf(node)
  if (tag === 'table') return tableOf(node, within)
  return PLAIN.has(tag) ? plainOf(tag, node, within) : childrenOf(node, within)
}

function plainOf(tag: string, node: HTMLElement, within: Within): ReactNode {
  const Tag = (INSTEAD[tag] ?? tag) as keyof JSX.IntrinsicElements
  const align = tag === 'center' ? 'center' : (node.getAttribute('align') ?? '')
  const attributes = {
    ...(/^(left|center|right)$/.test(align) && { className: styles[align] }),
    ...(tag === 'ol' && node.hasAttribute('start') && { start: Number(node.getAttribute('start')) || 1 }),
    ...(tag === 'details' && node.hasAttribute('open') && { open: true }),
    ...(tag === 'li' &&
      node.querySelector(':scope > input, :scope > p > input') && { className: styles.task }),
    ...spansOf(tag, node),
  }
  return VOID.has(tag) ? <Tag {...attributes} /> : <Tag {...attributes}>{childrenOf(node, within)}</Tag>
}

function spansOf(tag: string, node: HTMLElement): object {
  if (tag !== 'td' && tag !== 'th') return {}
  const span = (name: string) => Math.min(100, Math.max(1, Number(node.getAttribute(name)) || 1))
  return { colSpan: span('colspan'), rowSpan: span('rowspan') }
}

/** One level below, since the page has a heading of its own. */
function headingOf(node: HTMLElement, within: Within): ReactNode {
  const level = Number(node.localName[1])
  const Tag = `h${Math.min(6, level + 1)}` as 'h2'
  const slug = slugOf(node.textContent ?? '')
  const times = within.slugs.get(slug) ?? 0
  within.slugs.set(slug, times + 1)
  const id = headingId(times > 0 ? `${slug}-${times}` : slug)
  return (
    <div className={`${styles.heading} ${styles[`level${level}`]}`}>
      <Tag id={id}>{childrenOf(node, within)}</Tag>
      {slug && !within.inLink && (
        <a className={styles.anchor} href={`#${id}`} aria-label={`Link to ${node.textContent}`} tabIndex={-1}>
          #
        </a>
      )}
    </div>
  )
}

function blockOf(node: HTMLElement): ReactNode {
  const code = node.querySelector(':scope > code')
  const [, word = ''] = /(?:^|\s)language-(\S+)/.exec(code?.className ?? '') ?? []
  return <CodeBlock text={(node.textContent ?? '').replace(/\n$/, '')} word={word} />
}

function linkOf(node: HTMLElement, within: Within): ReactNode {
  const children = childrenOf(node, { ...within, inLink: true })
  if (within.inLink) return children
  return (
    <LinkTo text={within.text} href={node.getAttribute('href') ?? ''}>
      {children}
    </LinkTo>
  )
}

function imageOf(node: HTMLElement, { text, inLink }: Within): ReactNode {
  const size = (name: string) =>
    Math.min(4_000, Number(node.getAttribute(name)?.replace(/px$/, ''))) || undefined
  return (
    <ImageIn
      text={text}
      src={node.getAttribute('src') ?? ''}
      alt={node.getAttribute('alt') ?? ''}
      width={size('width')}
      height={size('height')}
      inLink={inLink}
    />
  )
}

/** Of a list of tasks: to be read, not to be pressed. */
const checkboxOf = (node: HTMLElement): ReactNode =>
  node.getAttribute('type') === 'checkbox' ? (
    <input
      type="checkbox"
      disabled
      checked={node.hasAttribute('checked')}
      readOnly
      aria-label={node.hasAttribute('checked') ? 'Done' : 'To do'}
    />
  ) : null

const tableOf = (node: HTMLElement, within: Within): ReactNode => (
  <section className={styles.table} aria-label="Table" {...reachable}>
    <table>{childrenOf(node, within)}</table>
  </section>
)
