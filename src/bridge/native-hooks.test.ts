import { expect, it } from 'vitest'
import type { AgentEvent } from '../protocol/index.js'
import { applyNativeHooks } from './native-hooks.js'

const custom = (name: string): AgentEvent => ({ type: 'CUSTOM', name, value: null })
const translate = (event: string): AgentEvent[] => [custom(event)]

it('translates a native event, and what a hook puts in its place', async () => {
  expect(await applyNativeHooks({}, 'a', translate)).toEqual([custom('a')])
  const twice = { change: (event: unknown) => [event, 'b'] }
  expect(await applyNativeHooks(twice, 'a', translate)).toEqual([custom('a'), custom('b')])
  expect(await applyNativeHooks({ change: () => Promise.resolve([]) }, 'a', translate)).toEqual([])
})

it('asks the hook for a translation first', async () => {
  const hooks = {
    change: () => ['a', 'b', 'c'],
    translate: (event: unknown) =>
      event === 'a' ? [] : event === 'b' ? Promise.resolve([custom('own')]) : undefined,
  }
  expect(await applyNativeHooks(hooks, 'x', translate)).toEqual([custom('own'), custom('c')])
})
