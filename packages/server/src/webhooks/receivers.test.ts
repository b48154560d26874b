import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEgress } from '../platform/egress.ts'
import { listRefusals } from './receivers.ts'

describe('many receivers that are judged together', () => {
  const known: Record<string, string> = { 'inside.example': '10.0.0.1', 'outside.example': '1.1.1.1' }
  const judge = async (hosts: string[], waitMs?: number) => {
    const asked: string[] = []
    const egress = createEgress([], async (host) => {
      asked.push(host)
      if (host.startsWith('silent')) return new Promise(() => {})
      const address = known[host]
      if (!address) throw new Error('ENOTFOUND')
      return [{ address, family: 4 }]
    })
    const urls = hosts.map((host) => new URL(`https://${host}/hook`))
    return { refused: [...(await listRefusals(egress, urls, waitMs)).keys()], asked }
  }

  it('are refused by their addresses, and each name is looked up once', async () => {
    const { refused, asked } = await judge([
      'outside.example',
      'inside.example',
      'nowhere.example',
      'inside.example',
      '127.0.0.1',
      '[::1]',
      '1.1.1.1',
    ])
    assert.deepEqual(refused.toSorted(), ['127.0.0.1', '[::1]', 'inside.example'])
    assert.deepEqual(asked, ['outside.example', 'inside.example', 'nowhere.example'])
  })

  it('are not waited for any longer than one would be, nor looked up in vain', async () => {
    const silent = Array.from({ length: 60 }, (_, i) => `silent${i}.example`)
    const { refused, asked } = await judge([...silent, 'inside.example', '169.254.169.254'], 20)
    assert.deepEqual(refused, ['169.254.169.254'])
    assert.deepEqual(asked, ['silent0.example'])
  })
})
