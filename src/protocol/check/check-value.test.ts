import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { expect, it } from 'vitest'
import { checkValue } from './check-value.js'
import { toShape } from './schema-shape.js'

const shape = toShape(RunAgentInputSchema)
const user = { id: 'u1', role: 'user', content: 'Hello.' }
const input = {
  threadId: 't',
  runId: 'r',
  state: {},
  messages: [user],
  tools: [],
  context: [],
  forwardedProps: {},
}

it('gives back what needs no change itself', () => {
  expect(checkValue(input, shape)).toEqual({ value: input, warnings: [], issues: [] })
  expect(checkValue(input, shape).value).toBe(input)
})

it.each([
  ['an unknown member', { mood: 'good' }],
  ['a null', { name: null }],
  ['a member that is undefined', { name: undefined }],
])('copies a message without %s, and shares the others', (_, more) => {
  const given = { ...user, ...more }
  const { value, issues } = checkValue({ ...input, messages: [user, given] }, shape)
  const [first, second] = (value as typeof input).messages
  expect(issues).toEqual([])
  expect(first).toBe(user)
  expect(second).not.toBe(given)
  expect(Object.keys(second ?? {})).toEqual(Object.keys(user))
  expect(given).toEqual({ ...user, ...more })
})

it('does not take inherited members for its own', () => {
  const { issues } = checkValue({ ...input, messages: [Object.create(user) as object] }, shape)
  expect(issues).not.toEqual([])
})
