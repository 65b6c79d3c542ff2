import { BASIC_CATALOG_ID } from '@ag-ui/a2ui-toolkit'
import { describe, expect, it } from 'vitest'
import { basicCatalog } from './basic-catalog.js'
import { surfaceProblems } from './check-surface.js'
import { toSurface } from './to-surface.js'

const text = (id: string, value: unknown) => ({ id, component: 'Text', text: value })
const list = { id: 'root', component: 'List', children: { componentId: 'entry', path: '/items' } }

function problemsOf(components: unknown, data?: unknown): readonly string[] {
  const problems = surfaceProblems({ components, data, catalog: basicCatalog, hasAllData: false })
  return problems.map(({ code, path }) => `${code} ${path}`)
}

describe('a surface that can be drawn', () => {
  it.each([
    ['a text', [text('root', 'Hello')], {}],
    ['a text that is an id', [text('root', 'root')], {}],
    ['a number in place of a text', [text('root', 5)], {}],
    ['a value that is not there yet', [text('root', { path: '/none' })], {}],
    ['a function of the page', [text('root', { call: 'formatString', args: {} })], {}],
    ['a list', [list, text('entry', { path: 'name' })], { items: [{ name: 'a' }, { name: 5 }] }],
    ['a list without entries', [list, text('entry', { path: 'name' })], { items: 'none' }],
    ['tabs', [{ id: 'root', component: 'Tabs', tabs: [{ title: 'A', child: 'a' }] }, text('a', 'in it')], {}],
    [
      'what a click reports, whatever it is',
      [
        {
          id: 'root',
          component: 'Button',
          child: 'a',
          action: { event: { name: 'x', context: { y: { path: '/o' } } } },
        },
        text('a', 'Go'),
      ],
      { o: { any: ['thing'] } },
    ],
    ['a property that nobody knows', [{ ...text('root', 'x'), glow: { much: true } }], {}],
  ])('has %s', (_, components, data) => {
    expect(problemsOf(components, data)).toEqual([])
  })
})

describe('a surface is refused', () => {
  it.each([
    [
      'for an object in place of a text',
      [text('root', { name: 'Ann' })],
      {},
      'invalid_property components[0].text',
    ],
    ['for a list in place of a text', [text('root', ['a'])], {}, 'invalid_property components[0].text'],
    [
      'for a text in place of a list',
      [{ id: 'root', component: 'Tabs', tabs: 'x' }],
      {},
      'invalid_property components[0].tabs',
    ],
    [
      'for an object in the data model in place of a text',
      [text('root', { path: '/person' })],
      { person: { name: 'Ann' } },
      'invalid_property components[0].text',
    ],
    [
      'for an object in the entry of a list',
      [list, text('entry', { path: 'name' })],
      { items: [{ name: 'a' }, { name: { first: 'b' } }] },
      'invalid_property components[1].text',
    ],
    [
      'for an object in a list of objects',
      [{ id: 'root', component: 'Tabs', tabs: [{ title: { a: 1 }, child: 'a' }] }, text('a', 'x')],
      {},
      'invalid_property components[0].tabs[0].title',
    ],
    [
      'for a component of another catalog',
      [{ id: 'root', component: 'Hologram' }],
      {},
      'unknown_component components[0].component',
    ],
    [
      'for a name that every object has',
      [{ id: 'root', component: 'constructor' }],
      {},
      'unknown_component components[0].component',
    ],
    [
      'for a property that is missing',
      [{ id: 'root', component: 'Text' }],
      {},
      'missing_required_prop components[0].text',
    ],
    [
      'for a tab that leads nowhere',
      [{ id: 'root', component: 'Tabs', tabs: [{ title: 'A', child: 'b' }] }],
      {},
      'unresolved_child components[0].tabs[0].child',
    ],
    ['for no components', 'none', {}, 'empty_components components'],
    [
      'for a circle',
      [{ id: 'root', component: 'Card', child: 'root' }],
      {},
      'child_cycle components[id=root]',
    ],
    ['for its size', [text('root', 'x'.repeat(600_000))], {}, 'too_large components'],
    [
      'for lists in lists',
      [list, { ...list, id: 'entry', children: { componentId: 'line', path: '/items' } }, text('line', 'x')],
      { items: Array(200).fill(1) },
      'too_large components',
    ],
  ])('%s', (_, components, data, problem) => {
    expect(problemsOf(components, data)).toEqual([problem])
  })

  it('for its depth, and nothing overflows', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown
    expect(problemsOf([text('root', deep)])).toEqual(['too_deep components'])
  })

  it('with the first twenty reasons', () => {
    expect(problemsOf(Array.from({ length: 99 }, (_, index) => ({ id: `c${index}` })))).toHaveLength(20)
  })
})

it('makes operations of a surface', () => {
  const components = [text('root', { path: '/when' })]
  expect(toSurface({ surfaceId: 's', components, data: { when: new Date(0) } }).a2ui_operations).toEqual([
    { version: 'v0.9', createSurface: { surfaceId: 's', catalogId: BASIC_CATALOG_ID } },
    { version: 'v0.9', updateComponents: { surfaceId: 's', components } },
    {
      version: 'v0.9',
      updateDataModel: { surfaceId: 's', path: '/', value: { when: '1970-01-01T00:00:00.000Z' } },
    },
  ])
})

it('says to its designer why a surface cannot be drawn', () => {
  expect(() => toSurface({ surfaceId: 's', components: [text('top', 'x')] })).toThrow(
    "No component has id 'root'",
  )
  expect(() => toSurface({ surfaceId: '', components: [text('root', 'x')] })).toThrow(
    '`surfaceId` must be a text',
  )
})

it('checks only the structure of components that it does not know', () => {
  const components = [{ id: 'root', component: 'Ticket', to: { any: 'thing' } }]
  expect(() => toSurface({ surfaceId: 's', components, catalogId: 'mine' })).not.toThrow()
})
