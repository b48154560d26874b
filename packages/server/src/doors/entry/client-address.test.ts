import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { isLoopback } from '../../platform/addresses.ts'
import { addressKey, createAddressReader } from './client-address.ts'

/** As much of a request as the reader looks at. */
const from = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

describe('the address of a caller', () => {
  it('is that of the socket', () => {
    const read = createAddressReader([])
    assert.equal(read(from('203.0.113.5')), '203.0.113.5')
    assert.equal(read(from('2001:db8::1')), '2001:db8::1')
    assert.equal(read(from(undefined)), '')
  })

  it('is an IPv4 address also when the socket speaks IPv6', () => {
    assert.equal(createAddressReader([])(from('::ffff:203.0.113.5')), '203.0.113.5')
    assert.equal(createAddressReader(['127.0.0.1'])(from('::ffff:127.0.0.1', '203.0.113.5')), '203.0.113.5')
  })

  it('is not taken from a header when no proxy is trusted', () => {
    assert.equal(createAddressReader([])(from('203.0.113.5', '127.0.0.1')), '203.0.113.5')
  })

  it('is not taken from a header that somebody other than a trusted proxy sent', () => {
    const read = createAddressReader(['10.0.0.0/8'])
    assert.equal(read(from('203.0.113.5', '127.0.0.1')), '203.0.113.5')
    assert.equal(read(from('203.0.113.5', '10.0.0.1, 127.0.0.1')), '203.0.113.5')
  })

  it('is the last one that a trusted proxy wrote, whatever stands before it', () => {
    const read = createAddressReader(['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7'])
    assert.equal(read(from('10.0.0.1', '203.0.113.5')), '203.0.113.5')
    assert.equal(read(from('10.0.0.1', '127.0.0.1, 203.0.113.5')), '203.0.113.5')
    assert.equal(read(from('10.0.0.1', 'garbage, 127.0.0.1 , 203.0.113.5 ')), '203.0.113.5')
    assert.equal(read(from('2001:db8:1::9', '2001:db8:2::1')), '2001:db8:2::1')
    assert.equal(read(from('192.0.2.8', '203.0.113.5')), '192.0.2.8')
  })

  it('is found behind a chain of trusted proxies', () => {
    const read = createAddressReader(['10.0.0.0/8', '192.0.2.7'])
    assert.equal(read(from('10.0.0.1', '198.51.100.1, 203.0.113.5, 10.9.9.9, 192.0.2.7')), '203.0.113.5')
    assert.equal(read(from('10.0.0.1', '127.0.0.1, 203.0.113.5, ::ffff:10.9.9.9')), '203.0.113.5')
  })

  it('is that of the proxy when it named nobody', () => {
    const read = createAddressReader(['10.0.0.0/8'])
    assert.equal(read(from('10.0.0.1')), '10.0.0.1')
    assert.equal(read(from('10.0.0.1', '')), '10.0.0.1')
    assert.equal(read(from('10.0.0.1', '10.0.0.2')), '10.0.0.2')
  })

  it('is no address of this machine when the proxy names something that is not an address', () => {
    const read = createAddressReader(['127.0.0.1'])
    for (const odd of ['garbage', 'unknown', '_hidden', '127.1', '[::1]:80', '1.2.3.4:5', '::ffff:102:304'])
      assert.equal(isLoopback(read(from('127.0.0.1', odd))), false, odd)
  })
})

describe('loopback', () => {
  it('is all of 127.0.0.0/8 and ::1, and nothing else', () => {
    for (const address of ['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1'])
      assert.equal(isLoopback(address), true, address)
    for (const address of ['128.0.0.1', '10.0.0.1', '::2', '::', '0.0.0.0', 'fe80::1%eth0', '', 'localhost'])
      assert.equal(isLoopback(address), false, address)
  })
})

describe('what counts as one caller', () => {
  it('is an IPv4 address', () => {
    assert.equal(addressKey('203.0.113.5'), '203.0.113.5')
    assert.notEqual(addressKey('203.0.113.5'), addressKey('203.0.113.6'))
  })

  it('is the network half of an IPv6 address', () => {
    const key = addressKey('2001:db8:1:2:3:4:5:6')
    for (const same of ['2001:db8:1:2::', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'])
      assert.equal(addressKey(same), key, same)
    for (const other of ['2001:db8:1:3::1', '2001:db8:1::2', '2001:db8::1:2', '::1'])
      assert.notEqual(addressKey(other), key, other)
  })

  it('is the same however the zeros are shortened', () => {
    assert.equal(addressKey('2001:db8::1'), addressKey('2001:db8:0:0:0:0:0:1'))
    assert.equal(addressKey('2001:db8::5:0:0:1'), addressKey('2001:db8:0:0:7::'))
    assert.equal(addressKey('::1'), addressKey('::2'))
    assert.notEqual(addressKey('2001::'), addressKey('2001:db8::'))
  })
})
