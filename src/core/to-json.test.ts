import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toJson } from './to-json.js'

class Point {
  readonly x = 1
  readonly #hidden = 2
  get sum() {
    return this.x + this.#hidden
  }
}

function same(this: unknown): unknown {
  return this
}

class Service {
  readonly start = (): number => 1
}

/** So deep that no stack has room for it. */
const deep = Array.from({ length: 100_000 }).reduce<object>((inner) => ({ a: inner }), {})

it.each<[string, unknown, unknown]>([
  ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['a date that is none', { at: new Date(NaN) }, { at: null }],
  ['a URL', new URL('http://a.example/b'), 'http://a.example/b'],
  [
    'a map',
    new Map<unknown, unknown>([
      ['a', 1],
      [2, new Map()],
    ]),
    { a: 1, 2: {} },
  ],
  ['a map by objects', new Map([[{ k: 1 }, 'v']]), [[{ k: 1 }, 'v']]],
  ['a set', { tags: new Set(['a', new Set([1])]) }, { tags: ['a', [1]] }],
  ['a BigInt', [12345678901234567890n], ['12345678901234567890']],
  ['no number', [NaN, Infinity, -Infinity], [null, null, null]],
  ['an error', { e: new TypeError('no') }, { e: { name: 'TypeError', message: 'no' } }],
  ['bytes', { b: new Uint8Array([1, 2]), c: new Uint8Array([3]).buffer }, { b: [1, 2], c: [3] }],
  ['an instance of a class', new Point(), { x: 1 }],
  ['toJSON', { a: { toJSON: (key: string) => `as ${key}` } }, { a: 'as a' }],
  ['a boxed value', [Object(1), Object('a')], [1, 'a']],
  ['members that are not there', { a: undefined, c: [undefined] }, { c: [null] }],
  ['a plain object that is its own JSON', { a: 1, toJSON: same }, { a: 1 }],
  ['null', null, null],
])('makes JSON of %s', (_, value, json) => {
  const copy = toJson(value, 'it')
  expect(copy).toEqual(json)
  expect(JSON.parse(JSON.stringify(copy))).toEqual(copy)
})

const circle: Record<string, unknown> = { list: [] }
circle.list = [{ circle }]

it.each<[unknown, string]>([
  [circle, 'The state is not JSON: list[0].circle contains itself.'],
  [{ a: { b: Promise.resolve() } }, 'The state is not JSON: a.b is a Promise.'],
  [[[1].values()], 'The state is not JSON: [0] is a Array Iterator.'],
  [undefined, 'The state is not JSON: it is undefined.'],
  [() => 1, 'The state is not JSON: it is a function.'],
  [{ a: [Symbol('s')] }, 'The state is not JSON: a[0] is a symbol.'],
  [new Service(), 'The state is not JSON: it is a Service.'],
  [deep, `The state is not JSON: ${Array(20).fill('a').join('.')} is nested too deeply.`],
  [
    {
      get a() {
        throw new Error('closed')
      },
    },
    'The state is not JSON: a cannot be read: closed.',
  ],
])('says what would be lost without a word, and where: %#', (value, message) => {
  expect(() => toJson(value, 'The state')).toThrow(
    expect.objectContaining({ code: 'ENCODING_ERROR', message }),
  )
})

it('takes the same object twice', () => {
  const twice = { x: 1 }
  expect(toJson({ a: twice, b: [twice] }, 'it')).toEqual({ a: twice, b: [twice] })
})

it('copies JSON as it is, and shares nothing with it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const copy = toJson(value, 'it')
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value)
    }),
  )
  const parsed: unknown = JSON.parse('{"__proto__":{"a":1}}')
  expect(JSON.stringify(toJson(parsed, 'it'))).toBe('{"__proto__":{"a":1}}')
})
