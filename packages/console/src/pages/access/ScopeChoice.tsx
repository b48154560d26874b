import type { AccessScope } from '@trellis/contract'
import { ChoiceField } from '../../ui/Field.tsx'

const SCOPES: readonly { value: AccessScope; label: string }[] = [
  { value: 'read', label: 'Clone and fetch' },
  { value: 'write', label: 'Clone, fetch and push' },
]

interface ScopeChoiceProps {
  value: AccessScope
  onChoose: (scope: AccessScope) => void
}

export const ScopeChoice = (props: ScopeChoiceProps) => (
  <ChoiceField label="What git may do with it" options={SCOPES} {...props} />
)
