import { expect, test } from 'vitest'
import type { ServerOptions } from '../contract.js'
import { createClientAddress, toAddressKey } from './client-address.js'

function requestFrom(forwarded?: string): Request {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return new Request('http://localhost/', { headers })
}

/** Finds the key under which a client is counted. */
function createKeyOf(trustProxy: ServerOptions['trustProxy']) {
  const addressOf = createClientAddress(trustProxy)
  return (request: Request, socketAddress: string | undefined) =>
    toAddressKey(addressOf(request, socketAddress))
}

test('takes the address of the socket, whatever the request says', () => {
  const addressOf = createKeyOf(undefined)
  expect(addressOf(requestFrom('198.51.100.7'), '203.0.113.5')).toBe('203.0.113.5')
  expect(addressOf(requestFrom(), '::ffff:203.0.113.5')).toBe('203.0.113.5')
})

test('knows no address where there is no socket', () => {
  expect(createKeyOf(undefined)(requestFrom('198.51.100.7'), undefined)).toBeUndefined()
})

test.each([
  { proxies: 1, forwarded: '198.51.100.7', expected: '198.51.100.7', why: 'one proxy' },
  {
    proxies: 1,
    forwarded: '6.6.6.6, 198.51.100.7',
    expected: '198.51.100.7',
    why: 'a forged entry in front',
  },
  { proxies: 2, forwarded: '6.6.6.6, 198.51.100.7, 10.0.0.1', expected: '198.51.100.7', why: 'two proxies' },
  { proxies: 2, forwarded: '198.51.100.7', expected: '198.51.100.7', why: 'one proxy was left out' },
  { proxies: 1, forwarded: undefined, expected: '10.0.0.9', why: 'the proxy says nothing' },
  { proxies: 1, forwarded: 'unknown', expected: '10.0.0.9', why: 'what it says is no address' },
  { proxies: 1, forwarded: '9'.repeat(5_000), expected: '10.0.0.9', why: 'what it says is too long' },
  { proxies: 1, forwarded: '198.51.100.7:51234', expected: '198.51.100.7', why: 'a port' },
  { proxies: 1, forwarded: '[2001:db8::1]:51234', expected: '2001:db8:0:0', why: 'a port behind IPv6' },
])('reads what the own proxies have added: $why', ({ proxies, forwarded, expected }) => {
  expect(createKeyOf(proxies)(requestFrom(forwarded), '10.0.0.9')).toBe(expected)
})

test('takes all of a network of IPv6 for one client', () => {
  const addressOf = createKeyOf(undefined)
  const texts = [
    '2001:db8:1:2::1',
    '2001:0db8:0001:0002:ffff:0:0:9',
    '2001:DB8:1:2:3:4:5:6',
    '2001:db8:1:2::%eth0',
  ]
  for (const text of texts) expect(addressOf(requestFrom(), text)).toBe('2001:db8:1:2')
  expect(addressOf(requestFrom(), '2001:db8:1:3::1')).toBe('2001:db8:1:3')
  expect(addressOf(requestFrom(), '::1')).toBe('0:0:0:0')
})

test('asks a function, which need not know', () => {
  const addressOf = createKeyOf((request) => request.headers.get('cf-connecting-ip') ?? undefined)
  const request = new Request('http://localhost/', { headers: { 'cf-connecting-ip': '198.51.100.7' } })
  expect(addressOf(request, undefined)).toBe('198.51.100.7')
  expect(addressOf(requestFrom('6.6.6.6'), '203.0.113.5')).toBeUndefined()
})

test('keeps the whole address for those who look for it', () => {
  const addressOf = createClientAddress(1)
  expect(addressOf(requestFrom('6.6.6.6, 2001:db8::17'), '10.0.0.9')).toBe('2001:db8::17')
  expect(addressOf(requestFrom('<script>'), '10.0.0.9')).toBe('10.0.0.9')
})
