import styles from './Icon.module.css'

/** Drawn on a grid of 16, with lines of 1.5. */
const SHAPES = {
  agent: 'M8 1.75v2M3.5 5.5h9v6.75h-9zM1.75 8v2M14.25 8v2M6 8.25v1M10 8.25v1',
  alert: 'M8 2 14.5 13.5H1.5zM8 6.5v3M8 11.5v.01',
  back: 'M13 8H3M7 4 3 8l4 4',
  branch:
    'M4.5 4.5v7M4.5 8.5c0-1 1-1.5 2.5-1.5s4 0 4-2.5M4.5 4.5a1.4 1.4 0 1 0 0-.01M4.5 13a1.4 1.4 0 1 0 0-.01M11 4.5a1.4 1.4 0 1 0 0-.01',
  check: 'm3 8.5 3.25 3.25L13 5',
  close: 'm4 4 8 8M12 4l-8 8',
  commit: 'M1.5 8H5M11 8h3.5M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  down: 'm4 6 4 4 4-4',
  download: 'M8 2.5v7M4.75 6.75 8 10l3.25-3.25M2.5 13.5h11',
  external: 'M6.5 3h-3.5v10h10V9.5M9 3h4v4M13 3 7.5 8.5',
  file: 'M3.5 1.75h6l3 3v9.5h-9zM9.25 1.75v3.5h3.25',
  folder: 'M1.75 3.5h4.5l1.5 1.75h6.5v8h-12.5z',
  key: 'M5.25 7.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M7.5 8.25l6-6M10.75 5l2 2',
  link: 'M6.75 9.25 9.5 6.5M7.25 4.75l1.4-1.4a2.8 2.8 0 0 1 4 4l-1.4 1.4M8.75 11.25l-1.4 1.4a2.8 2.8 0 0 1-4-4l1.4-1.4',
  lock: 'M3.5 7h9v6.5h-9zM5.25 7V5a2.75 2.75 0 0 1 5.5 0v2',
  more: 'M3.5 8v.01M8 8v.01M12.5 8v.01',
  open: 'm6 4 4 4-4 4',
  organization:
    'M2.5 14V2.5h7V14M9.5 6.5h4V14M1.5 14h13M5 5.5v.01M7 5.5v.01M5 8.5v.01M7 8.5v.01M11.5 9.5v.01',
  person:
    'M8 2.25a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5M2.75 13.75c.5-2.75 2.5-4 5.25-4s4.75 1.25 5.25 4',
  play: 'M4.5 3v10l8-5z',
  plus: 'M8 3v10M3 8h10',
  repository: 'M3.25 12.5V2.25h9.5v8.5H5a1.75 1.75 0 0 0 0 3.5h7.75v-3.5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5l3.25 3.25',
  settings: 'M2 4.5h6M11.5 4.5H14M2 11.5h2.5M8 11.5h6M9.75 2.75v3.5M6.25 9.75v3.5',
  tag: 'M2.25 2.25h5.5l6 6-5.5 5.5-6-6zM5.25 5.25v.01',
  time: 'M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5M8 4.5V8l2.5 1.5',
  webhook: 'M8 2.25a5.75 5.75 0 1 0 5.75 5.75M8 5.5a2.5 2.5 0 1 0 2.5 2.5M8 8l5-5M10.5 3h2.75v2.75',
} as const

export type IconName = keyof typeof SHAPES

/** Beside words, so it says nothing itself. */
export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg className={styles.icon} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
    <path d={SHAPES[name]} />
  </svg>
)
