import { Page, PageHeader } from '../../ui/Page.tsx'
import { Agents } from '../people/Agents.tsx'

/** All agents a person has claimed, wherever they work. */
export const AgentsOfMine = () => (
  <Page title="Your agents">
    <PageHeader
      title="Agents"
      about="Programs that registered by themselves, and that you have claimed. You answer for what they do."
    />
    <Agents />
  </Page>
)
