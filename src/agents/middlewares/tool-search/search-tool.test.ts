import { describe, expect, test } from 'vitest'
import { rankTools, selectedNames } from './search-tool.js'

const tools = [
  { name: 'get_weather', description: 'The weather in a city, now.' },
  { name: 'weatherHistory', description: 'Past temperatures.' },
  { name: 'book-room', description: 'Books a hotel room in a city.' },
  { name: 'cancel_booking', description: 'Cancels what was booked.' },
  { name: 'translate', description: 'Übersetzt Text. 翻訳する。' },
]

const ranked = (query: string) => rankTools(tools, query).map(({ name }) => name)

describe('a search', () => {
  test.each([
    ['weather', ['get_weather', 'weatherHistory']],
    ['history of weather', ['weatherHistory', 'get_weather']],
    ['book room', ['book-room', 'cancel_booking']],
    ['+city', ['get_weather', 'book-room']],
    ['+city hotel', ['book-room', 'get_weather']],
    ['+city +hotel', ['book-room']],
    ['+nothing weather', []],
    ['get_weather', ['get_weather']],
    ['WEATHER, "History"', ['weatherHistory', 'get_weather']],
    ['übersetzt', ['translate']],
    ['翻訳', ['translate']],
    ['nothing', []],
    ['   ', []],
    ['+', []],
  ])('for %o gives %o', (query, names) => {
    expect(ranked(query)).toEqual(names)
  })

  test('gives what fits equally well in the order of the tools', () => {
    const same = ['c', 'a', 'b'].map((name) => ({ name, description: 'Prints.' }))
    expect(rankTools(same, 'prints').map(({ name }) => name)).toEqual(['c', 'a', 'b'])
  })
})

test.each([
  ['select:a,b', ['a', 'b']],
  ['Select: a, b a ,', ['a', 'b']],
  ['select:', []],
  ['select a', undefined],
  ['a select:b', undefined],
])('the query %o selects %o', (query, names) => {
  expect(selectedNames(query)).toEqual(names)
})
