import { describe, expect, test } from 'vitest'
import { endsSoon } from '../../../test/support/ends-soon.js'
import { createFacts, type FactKind } from './facts.js'

function all(text: string, kind: FactKind): string[] {
  const facts = createFacts(text)
  const found: string[] = []
  for (let fact = facts.next(kind); fact !== undefined; fact = facts.next(kind)) found.push(fact)
  return found
}

describe('a message', () => {
  test.each<[FactKind, string, string[]]>([
    ['quote', 'Say "hello there" and “goodbye”', ['hello there', 'goodbye']],
    ['url', 'Read https://x.test/a?b=1, then http://y.test.', ['https://x.test/a?b=1', 'http://y.test']],
    ['email', 'Mail bob@x.test, or ann.b+c@y.example.', ['bob@x.test', 'ann.b+c@y.example']],
    ['date', 'from 2026-01-02 to 2026-02-03', ['2026-01-02', '2026-02-03']],
    ['time', 'at 9:30 or 21:15', ['9:30', '21:15']],
    ['name', 'Is it raining in New York or Oslo?', ['New York', 'Oslo']],
    ['name', "What's up? Tell me. I'm from Ål.", ['Ål']],
    ['name', 'Oslo please', ['Oslo']],
    ['name', 'I say "Not This" but Bergen', ['Bergen']],
    ['name', 'nothing here', []],
    ['name', '请问奥斯陆明天的天气怎么样？', ['奥斯陆']],
    ['item', 'add the tomatoes, some milk and two onions to my list', ['tomatoes', 'milk', 'two onions']],
    ['item', '在购物清单上加牛奶和面包', ['牛奶', '面包']],
    ['item', 'nothing here', []],
  ])('tells each %s once, in order: %s', (kind, text, expected) => {
    expect(all(text, kind)).toEqual(expected)
  })

  test('tells numbers, first those beside a word', () => {
    const facts = createFacts('2 rooms for 4 guests, up to 1,200.50 a night, minus -3')
    expect(facts.number(['guest'])).toBe(4)
    expect(facts.number(['unheard'])).toBe(2)
    expect(facts.number([])).toBe(1200.5)
    expect(facts.number([])).toBe(-3)
    expect(facts.number([])).toBeUndefined()
  })

  test('tells numbers in words, and none in dates and times', () => {
    const facts = createFacts('A table for two on 2026-01-01 at 19:30')
    expect(facts.number([])).toBe(2)
    expect(facts.number([])).toBeUndefined()
  })

  test('tells what stands after a small word, with a capital, and not twice', () => {
    const facts = createFacts('fly from New York to oslo in the morning for me')
    expect(facts.after('from')).toBe('New York')
    expect(facts.after('to')).toBe('Oslo')
    expect(facts.after('for')).toBeUndefined()
    expect(facts.after('from')).toBeUndefined()
    expect(facts.next('name')).toBeUndefined()
  })

  test('mentions words, not parts of them', () => {
    const facts = createFacts('In Fahrenheit, please: window-seat!')
    expect(facts.mentions('fahrenheit')).toBe(true)
    expect(facts.mentions('window seat')).toBe(true)
    expect(facts.mentions('heit')).toBe(false)
    expect(facts.mentions('')).toBe(false)
  })
})

test.each(['a', '“'])('a message of many %s takes little time', (piece) => {
  expect(endsSoon(() => createFacts(`from Oslo ${piece.repeat(300_000)}`).after('from'))).toBe('Oslo')
})
