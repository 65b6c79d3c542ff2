import type { JsonSchema } from '../model.js'
import type { FactKind, Facts } from './facts.js'

/** How the text for a parameter is found in a message, and what stands in for it. */
interface Reading {
  /** Small words that the value stands after. */
  readonly after?: readonly string[]
  readonly kinds?: readonly FactKind[]
  /** Puts what was found into the format. */
  readonly write?: (value: string) => string
  /** By default the whole message. */
  readonly sample?: string
}

const formats = new Map<unknown, Reading>([
  ['email', { kinds: ['email'], sample: 'guest@example.com' }],
  ['uri', { kinds: ['url'], sample: 'https://example.com/' }],
  ['date', { kinds: ['date'], sample: '2026-01-01' }],
  ['time', { kinds: ['time'], write: (time) => `${time.padStart(5, '0')}:00Z`, sample: '12:00:00Z' }],
  ['date-time', { kinds: ['date'], write: (date) => `${date}T12:00:00Z`, sample: '2026-01-01T12:00:00Z' }],
  ['uuid', { sample: '00000000-0000-4000-8000-000000000000' }],
])

const byName: readonly (readonly [RegExp, Reading])[] = [
  [/mail/, { kinds: ['email'], sample: 'guest@example.com' }],
  [/url|link|website/, { kinds: ['url'], sample: 'https://example.com/' }],
  [/date|day|when|deadline/, { kinds: ['date'], sample: '2026-01-01' }],
  [/time|hour/, { kinds: ['time'], sample: '12:00' }],
  [/origin|departure|^from/, { after: ['from'], kinds: ['name'], sample: 'Oslo' }],
  [/destination|arrival|recipient|^to$/, { after: ['to'], kinds: ['email', 'name'], sample: 'Bergen' }],
  [
    /city|town|place|location|country|region/,
    { after: ['in', 'for', 'at'], kinds: ['name', 'quote'], sample: 'Oslo' },
  ],
  [/colou?r|background|theme/, { after: ['to'], kinds: ['quote'], sample: 'blue' }],
  [
    /text|message|body|content|query|question|prompt|description|note|reason|title|task/,
    { kinds: ['quote'] },
  ],
  [/name|person|guest|customer|user/, { kinds: ['name', 'quote'], after: ['for'], sample: 'Ada' }],
]

function readingOf(key: string, { format }: JsonSchema): Reading {
  const [, reading] = byName.find(([pattern]) => pattern.test(key.toLowerCase())) ?? []
  return formats.get(format) ?? reading ?? { kinds: ['quote', 'name'] }
}

/** The text for a parameter, out of the message. */
export function findText(key: string, schema: JsonSchema, facts: Facts): string | undefined {
  const { after = [], kinds = [], write = (value) => value } = readingOf(key, schema)
  for (const look of [
    ...after.map((word) => () => facts.after(word)),
    ...kinds.map((kind) => () => facts.next(kind)),
  ]) {
    const value = look()
    if (value !== undefined) return ofLength(write(value), schema)
  }
  return undefined
}

/** A text that fits the parameter when the message has none. */
export function inventText(key: string, schema: JsonSchema, { text }: Facts): string {
  return ofLength(readingOf(key, schema).sample ?? (text === '' ? 'demo' : text), schema)
}

function ofLength(text: string, { minLength, maxLength }: JsonSchema): string {
  const cut = typeof maxLength === 'number' ? text.slice(0, maxLength) : text
  return typeof minLength === 'number' ? cut.padEnd(minLength, '.') : cut
}
