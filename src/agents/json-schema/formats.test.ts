import { describe, expect, test } from 'vitest'
import { endsSoon } from '../../../test/support/ends-soon.js'
import { formats } from './formats.js'

function fits(format: string, text: string): boolean | undefined {
  return formats.get(format)?.(text)
}

test.each<[string, readonly string[], readonly string[]]>([
  [
    'date',
    ['2024-02-29', '2000-02-29', '2026-12-31'],
    ['2026-02-29', '1900-02-29', '2026-13-01', '2026-00-01', '2026-1-1'],
  ],
  [
    'time',
    ['12:00:00Z', '23:59:60Z', '00:00:00.5+01:30', '00:59:60+01:00'],
    ['12:00:00', '24:00:00Z', '12:60:00Z', '12:00:60Z'],
  ],
  [
    'date-time',
    ['2026-01-01T12:00:00Z', '2026-01-01t12:00:00z'],
    ['2026-01-01', '2026-01-01T12:00:00', '2026-01-01x12:00:00Z'],
  ],
  ['duration', ['P1Y2M3DT4H5M6S', 'PT1S', 'P2W'], ['P', 'PT', 'P1', 'P1YT', 'P1S']],
  [
    'email',
    ['a@b.c', 'a.b+c@d', '"a b"@c.d', 'a@[127.0.0.1]', 'a@[IPv6:::1]'],
    ['a', '@b', 'a@', '.a@b', 'a..b@c', 'a@-b', 'a b@c'],
  ],
  ['hostname', ['localhost', 'a-b.example'], ['-a', 'a-', 'a..b', 'a_b', '', 'a'.repeat(64)]],
  ['ipv4', ['127.0.0.1', '0.0.0.0'], ['256.0.0.1', '1.2.3', '01.2.3.4', '1.2.3.4.5']],
  ['ipv6', ['::', '::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4'], [':', '1:2:3', '::g', '1::2::3', '::1%eth0']],
  [
    'uri',
    ['https://a.b/c?d#e', 'urn:a:b', 'http://[::1]:80/'],
    ['//a', 'a/b', 'http://a b', 'http://[::g]/', 'a:b#c#d', 'http://%zz'],
  ],
  ['uri-reference', ['//a', 'a/b', '#c', '', '?x:y'], ['a b', ':a', '1:a', 'a[b]']],
  ['uri-template', ['/a/{b}{?c,d*}', '/a'], ['/a/{b', '/{}', '/a b']],
  ['url', ['https://a.b/c', 'http://localhost:3000'], ['a.b', 'mailto:a@b.c', 'https://', 'https://a b']],
  ['uuid', ['00000000-0000-4000-8000-00000000000A'], ['0', '00000000-0000-4000-8000-00000000000g']],
  ['json-pointer', ['', '/a/b~0~1'], ['a', '/~2']],
  ['json-pointer-uri-fragment', ['#', '#/a%20b'], ['/a', '#/a b']],
  ['relative-json-pointer', ['0', '1/a', '2#'], ['-1', '01', '/a']],
  ['regex', ['^a+$', '(?=a)b'], ['(', '\\-']],
])('%s', (format, right, wrong) => {
  expect(right.filter((text) => fits(format, text) !== true)).toEqual([])
  expect(wrong.filter((text) => fits(format, text) !== false)).toEqual([])
})

describe('no text takes a format long', () => {
  const pieces = [
    ...['a', '1', '.', '-', ':', '/', '%', '{', '"', '@', ' ', '~', '#', '[', '\\', '(', '=', '\u2028'],
    ...['a.', 'a-', '1:', 'a@', '%4', '%41', '~0', '/a', '{a}', '{a,', '{a.', '""', '1D', '1M', '1.', 'é'],
  ]
  const starts = [
    '',
    'http://',
    'https://a',
    '"',
    '{',
    '#/',
    '0/',
    'P',
    'PT',
    'a@',
    '2026-01-01T12:00:00.',
    '::',
  ]

  test.each([...formats.keys()] as string[])('%s', (format) => {
    endsSoon(() => {
      // Too long for quadratic time, too.
      for (const start of starts)
        for (const piece of pieces) fits(format, `${start}${piece.repeat(50_000)}\n!`)
    })
  })
})
