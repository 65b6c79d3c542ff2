import { expect, it } from 'vitest'
import { createToolNames } from './tool-names.js'

it('keeps names that models take', () => {
  const { toModel, toWire } = createToolNames()
  expect(toModel('pick_color-2')).toBe('pick_color-2')
  expect(toWire('pick_color-2')).toBe('pick_color-2')
  expect(toWire('another')).toBeUndefined()
})

it('puts a prefix before the name for the model alone', () => {
  const { toModel, toWire } = createToolNames()
  expect(toModel('pick', 'ui_')).toBe('ui_pick')
  expect(toWire('ui_pick')).toBe('pick')
  expect(toModel('pick')).toBe('pick')
})

it.each([
  ['pick color', 'pick_color'],
  ['ui.pick:color', 'ui_pick_color'],
  ['2d', '_2d'],
  ['größe', 'gr__e'],
  ['色', '_'],
  ['constructor', 'constructor_'],
  ['__proto__', '__proto___'],
  ['x'.repeat(70), 'x'.repeat(64)],
])('cleans %s', (name, cleaned) => {
  const { toModel, toWire } = createToolNames()
  expect(toModel(name)).toBe(cleaned)
  expect(toWire(cleaned)).toBe(name)
})

it('gives different tools different names, and one tool always the same', () => {
  const { toModel, toWire } = createToolNames()
  const long = 'x'.repeat(64)
  expect(['a b', 'a_b', 'a.b', 'a b', `${long}1`, `${long}2`].map((name) => toModel(name))).toEqual([
    'a_b',
    'a_b_2',
    'a_b_3',
    'a_b',
    long,
    `${'x'.repeat(62)}_2`,
  ])
  expect(toWire('a_b_3')).toBe('a.b')
})

it.each([
  ['transfer_to_agent', undefined],
  ['set_model_response', undefined],
  ['finish_task', undefined],
  ['adk_request_input', undefined],
  ['finish_task', 'ui_'],
  ['request_input', 'adk_'],
])('has no name for %s with the prefix %s: it is ADK that answers to it', (name, prefix) => {
  expect(createToolNames().toModel(name, prefix)).toBeUndefined()
})
