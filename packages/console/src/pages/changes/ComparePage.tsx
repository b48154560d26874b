import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { isApiError } from '../../api/errors.ts'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Field } from '../../ui/Field.tsx'
import { Page } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import styles from './Changes.module.css'
import { CommitList } from './CommitList.tsx'
import { readComparison, writeComparison } from './compare-address.ts'
import { DiffView } from './diff/DiffView.tsx'
import { MergePanel } from './merge/MergePanel.tsx'
import { RefInput } from './RefInput.tsx'

/** Two revisions: what one has that the other has not, and whether it can be merged. */
export function ComparePage() {
  const { org, name, repo } = useRepo()
  const { _splat = '' } = useParams({ strict: false })
  const { w = false } = useSearch({ strict: false })
  const { base, head } = readComparison(_splat)
  const from = base || repo.defaultBranch
  return (
    <Page full title={head ? `${from}...${head} · ${org}/${name}` : `Compare · ${org}/${name}`}>
      <h1 className="heard">{head ? `Compare ${from} with ${head}` : 'Compare'}</h1>
      <Pickers key={`of ${_splat}`} base={from} head={head} />
      {head && from !== head ? (
        <Comparison key={_splat} base={from} head={head} ignoreWhitespace={w} />
      ) : (
        <EmptyState title={head ? 'That is the same twice' : 'Choose what to compare'}>
          <p>
            Choose a branch, a tag or a commit on each side: what the right one has done since it left the
            left one is shown here, and can be merged.
          </p>
        </EmptyState>
      )}
    </Page>
  )
}

function Pickers({ base, head }: { base: string; head: string }) {
  const { org, name } = useRepo()
  const navigate = useNavigate()
  const [left, setLeft] = useState(base)
  const [right, setRight] = useState(head)
  const go = (base: string, head: string) =>
    void navigate({
      to: '/o/$org/$repo/compare/$',
      params: { org, repo: name, _splat: writeComparison(base.trim(), head.trim()) },
    })
  return (
    <form
      className={styles.pickers}
      aria-label="What is compared"
      onSubmit={(event) => {
        event.preventDefault()
        go(left, right)
      }}
    >
      <Field label="Base">
        {(control) => (
          <RefInput
            {...control}
            value={left}
            onChange={setLeft}
            onChoose={(chosen) => right && go(chosen, right)}
          />
        )}
      </Field>
      <Button
        kind="quiet"
        icon="back"
        aria-label="Swap the sides"
        title="Swap the sides"
        disabled={!right}
        onClick={() => go(right, left)}
      />
      <Field label="Head">
        {(control) => (
          <RefInput {...control} value={right} onChange={setRight} onChoose={(chosen) => go(left, chosen)} />
        )}
      </Field>
      <Button type="submit" disabled={!left || !right}>
        Compare
      </Button>
    </form>
  )
}

interface ComparisonProps {
  base: string
  head: string
  ignoreWhitespace: boolean
}

function Comparison({ base, head, ignoreWhitespace }: ComparisonProps) {
  const { org, name } = useRepo()
  const compared = useQuery({
    ...query(org, (api) => api.git.compare, { name, base, head, mode: 'three-dot', patches: false }),
    throwOnError: false,
    placeholderData: keepPreviousData,
  })
  if (compared.error)
    return isApiError(compared.error, 'GIT_OBJECT_NOT_FOUND') ? (
      <EmptyState title={`There is no “${String(compared.error.data.object)}” here`}>
        <p>It may have been deleted or merged. Choose another branch, tag or commit above.</p>
      </EmptyState>
    ) : (
      <Problem error={compared.error} onRetry={() => void compared.refetch()} />
    )
  if (!compared.data) return <Skeleton rows={8} />
  const { ahead, behind, commits, moreCommits, mergeBase } = compared.data
  return (
    <>
      <MergePanel base={base} head={head} commits={commits} ahead={ahead} behind={behind} />
      {ahead > 0 && <CommitList commits={commits} ahead={ahead} hasMore={moreCommits} head={head} />}
      {(ahead > 0 || mergeBase === null) && <DiffView ends={{ org, name, base, head, ignoreWhitespace }} />}
    </>
  )
}
