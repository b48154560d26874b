import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { elementsOf, type Text } from './elements.tsx'
import styles from './Markdown.module.css'
import { parseMarkdown } from './parse.ts'
import { headingId } from './targets.ts'

/** A text with its headings, links and tables. One that cannot be rendered is shown as it is written. */
export default function Markdown({ text, at }: { text: string; at: Text }) {
  const { data: html, error } = useQuery({
    queryKey: ['markdown', text],
    queryFn: ({ signal }) => parseMarkdown(text, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    throwOnError: false,
  })
  if (error) return <pre className={styles.source}>{text}</pre>
  if (html === undefined)
    return (
      <div className={styles.text}>
        <Skeleton />
      </div>
    )
  return <Rendered html={html} at={at} />
}

function Rendered({ html, at }: { html: string; at: Text }) {
  const { org, name, ref, commit, path } = at
  const elements = useMemo(() => {
    // Only taken apart: in such a document nothing runs and nothing is loaded.
    const { body } = new DOMParser().parseFromString(html, 'text/html')
    return elementsOf(body, { org, name, ref, commit, path })
  }, [html, org, name, ref, commit, path])
  useHeadingOfAddress()
  return <article className={styles.text}>{elements}</article>
}

/** The text comes after the page, so the browser did not find the heading. */
function useHeadingOfAddress(): void {
  const hash = useLocation({ select: (location) => location.hash })
  useEffect(() => {
    if (!hash) return
    const heading = document.getElementById(hash) ?? document.getElementById(headingId(hash.toLowerCase()))
    heading?.scrollIntoView()
  }, [hash])
}
