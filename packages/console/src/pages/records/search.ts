/** What stands in the address of a table: the filter as `records/list` takes it, and the order. */
interface RowsSearch {
  where?: Record<string, unknown>
  sort?: string
}

export const searchOfRows = ({ where, sort }: Record<string, unknown>): RowsSearch => ({
  ...(typeof where === 'object' && where !== null && { where: where as Record<string, unknown> }),
  ...(typeof sort === 'string' && sort !== '' && { sort }),
})
