import { EmptyState } from '../../ui/EmptyState.tsx'

export const AdminsOnly = () => (
  <EmptyState title="Webhooks are for admins">
    <p>
      Their secrets and bodies tell more than a repository does. Ask an owner or admin of the organization.
    </p>
  </EmptyState>
)
