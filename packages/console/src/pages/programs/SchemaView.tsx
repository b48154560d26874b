import { Tag } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import styles from './Programs.module.css'
import { hintOf, isRequired, type JsonSchema, propertiesOf, shapeOf } from './schema-shape.ts'

/** Deeper than this nobody reads a table. */
const DEEPEST = 4

interface Row {
  path: string
  type: string
  required: boolean
  about: string
}

/** A JSON Schema as a table of its fields. */
export function SchemaView({ label, schema }: { label: string; schema: JsonSchema }) {
  const rows = rowsOf(schema, schema, '', true, 0)
  return (
    <Table label={label} columns={['Field', 'Type', { head: 'About', kind: 'wide' }]}>
      {rows.map(({ path, type, required, about }) => (
        <tr key={path}>
          <td className={styles.nowrap}>
            <code>{path || 'the value'}</code> {required && <Tag>required</Tag>}
          </td>
          <td className={styles.nowrap}>{type}</td>
          <td>{about}</td>
        </tr>
      ))}
    </Table>
  )
}

function rowsOf(part: unknown, root: JsonSchema, path: string, required: boolean, depth: number): Row[] {
  const shape = shapeOf(part, root)
  const { schema, kind } = shape
  if (kind === 'object' && depth < DEEPEST) {
    const own: Row[] = path === '' ? [] : [{ path, type: 'object', required, about: hintOf(shape) }]
    const inner = Object.entries(propertiesOf(schema)).flatMap(([name, one]) =>
      rowsOf(one, root, path ? `${path}.${name}` : name, isRequired(schema, name), depth + 1),
    )
    return [...own, ...inner]
  }
  const preset = schema.default === undefined ? '' : `${JSON.stringify(schema.default)} when left out.`
  const about = [hintOf(shape), preset].filter(Boolean).join(' ')
  const own: Row = { path, type: typeWords(shape, root), required, about }
  if (kind !== 'list' || shapeOf(schema.items, root).kind !== 'object' || depth >= DEEPEST) return [own]
  return [own, ...rowsOf(schema.items, root, `${path}[]`, true, depth + 1)]
}

function typeWords({ kind, schema, options }: ReturnType<typeof shapeOf>, root: JsonSchema): string {
  if (kind === 'choice')
    return options.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' | ')
  if (kind === 'list') return `list of ${typeWords(shapeOf(schema.items, root), root)}`
  if (kind === 'json') return typeof schema.type === 'string' ? schema.type : 'any JSON'
  return kind
}
