// Data and what happens: records, webhooks, activity.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { searchOfActivity } from '../pages/activity/filters.ts'
import { searchOfRows } from '../pages/records/search.ts'
import { searchOfDeliveries } from '../pages/webhooks/search.ts'
import { repo } from './root.ts'

const data = {
  getParentRoute: () => repo,
  errorComponent: lazyRouteComponent(() => import('../pages/records/DataProblem.tsx'), 'DataProblem'),
}
const records = createRoute({
  ...data,
  path: '/records',
  component: lazyRouteComponent(() => import('../pages/records/CollectionsPage.tsx'), 'CollectionsPage'),
  staticData: { tab: { label: 'Records', key: 'e' } },
})
const record = createRoute({
  ...data,
  path: '/records/$record',
  validateSearch: searchOfRows,
  component: lazyRouteComponent(() => import('../pages/records/RecordPage.tsx'), 'RecordPage'),
})
const newRow = createRoute({
  ...data,
  path: '/records/$record/new',
  component: lazyRouteComponent(() => import('../pages/records/NewRowPage.tsx'), 'NewRowPage'),
})
const row = createRoute({
  ...data,
  path: '/records/$record/$id',
  component: lazyRouteComponent(() => import('../pages/records/RowPage.tsx'), 'RowPage'),
})
const webhooks = createRoute({
  ...data,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
  staticData: { tab: { label: 'Webhooks', key: 'w' } },
})
const newWebhook = createRoute({
  ...data,
  // No webhook has such a name.
  path: '/webhooks/-/new',
  component: lazyRouteComponent(() => import('../pages/webhooks/NewWebhookPage.tsx'), 'NewWebhookPage'),
})
const webhook = createRoute({
  ...data,
  path: '/webhooks/$webhook',
  validateSearch: searchOfDeliveries,
  component: lazyRouteComponent(() => import('../pages/webhooks/WebhookPage.tsx'), 'WebhookPage'),
})
const delivery = createRoute({
  ...data,
  path: '/webhooks/$webhook/deliveries/$delivery',
  component: lazyRouteComponent(() => import('../pages/webhooks/DeliveryPage.tsx'), 'DeliveryPage'),
})
const activity = createRoute({
  getParentRoute: () => repo,
  path: '/activity',
  validateSearch: searchOfActivity,
  component: lazyRouteComponent(() => import('../pages/activity/ActivityPage.tsx'), 'RepoActivityPage'),
  staticData: { tab: { label: 'Activity', key: 'a' } },
})

/** In the order of the tabs. */
export const ofData = [
  records,
  record,
  newRow,
  row,
  webhooks,
  newWebhook,
  webhook,
  delivery,
  activity,
] as const
