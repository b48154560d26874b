import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { addressOf, rawPath } from '../addresses.ts'
import type { Text } from './elements.tsx'
import { targetOf } from './targets.ts'

/** A link of a text: into the repository, to a heading, or to elsewhere. What leads nowhere good is only words. */
export function LinkTo({ text, href, children }: { text: Text; href: string; children: ReactNode }) {
  const target = targetOf(href, text.path)
  if (!target) return <span>{children}</span>
  if (target.kind === 'heading') return <a href={`#${target.id}`}>{children}</a>
  if (target.kind === 'outside')
    return (
      <a href={target.href} rel="noopener noreferrer nofollow">
        {children}
      </a>
    )
  return (
    <Link
      to="/o/$org/$repo/blob/$"
      params={{ org: text.org, repo: text.name, _splat: addressOf(text.ref, target.path) }}
      {...(target.hash && { hash: target.hash })}
    >
      {children}
    </Link>
  )
}

interface ImageProps {
  text: Text
  src: string
  alt: string
  width: number | undefined
  height: number | undefined
  inLink: boolean
}

/** An image of the repository. Those of elsewhere would tell others who reads: they are links. */
export function ImageIn({ text, src, alt, width, height, inLink }: ImageProps) {
  const target = targetOf(src, text.path)
  if (target?.kind === 'inside' && target.path)
    return (
      <img
        src={rawPath({ ...text, path: target.path })}
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
      />
    )
  const words = alt || src
  return inLink ? (
    <span>{words}</span>
  ) : (
    <LinkTo text={text} href={src}>
      {words}
    </LinkTo>
  )
}
