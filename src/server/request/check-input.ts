import type { RunInput } from '../../protocol/index.js'
import type { Limits } from '../contract.js'
import { invalidField } from './errors.js'

const maxContext = 1000
const maxResume = 1000

// A lone surrogate cannot be sent as UTF-8: it would come back as another text.
const unreadable = /[\p{Cc}\p{Cs}]/u

/** Throws INVALID_INPUT, naming the field, for an input above the limits or with ids that cannot be stored and sent. */
export function checkRunInput(input: RunInput, limits: Limits): void {
  checkThreadId(input.threadId, 'threadId', limits)
  checkId(input.runId, 'runId', limits)
  if (input.parentRunId !== undefined) checkId(input.parentRunId, 'parentRunId', limits)
  checkCount(input.messages, 'messages', limits.messages)
  checkCount(input.tools, 'tools', limits.tools)
  checkCount(input.context, 'context', maxContext)
  checkCount(input.resume, 'resume', maxResume)
  let index = 0
  for (const message of input.messages) checkMessageIds(message, index++, limits)
  for (const [index, { name }] of input.tools.entries())
    checkIdText(name, limits, () => `tools[${index}].name`)
  for (const [index, { interruptId }] of input.resume.entries())
    checkIdText(interruptId, limits, () => `resume[${index}].interruptId`)
}

/** Returns an id from a path or a body. Throws INVALID_INPUT that says what is wrong with `name`. */
export function checkId(value: unknown, name: string, limits: Limits): string {
  if (typeof value !== 'string') throw invalidField(name, 'expected a string')
  checkIdText(value, limits, () => name)
  return value
}

/** Returns the id of a thread, as `checkId` does. No address can hold a dot or two: URLs resolve them. */
export function checkThreadId(value: unknown, name: string, limits: Limits): string {
  const id = checkId(value, name, limits)
  if (id === '.' || id === '..')
    throw invalidField(name, "'.' and '..' cannot stand in an address. Choose another id")
  return id
}

function checkMessageIds(message: RunInput['messages'][number], index: number, limits: Limits): void {
  checkIdText(message.id, limits, () => `messages[${index}].id`)
  if (message.role === 'tool') checkIdText(message.toolCallId, limits, () => `messages[${index}].toolCallId`)
  if (message.role !== 'assistant' || message.toolCalls === undefined) return
  for (const [call, { id }] of message.toolCalls.entries())
    checkIdText(id, limits, () => `messages[${index}].toolCalls[${call}].id`)
}

function checkIdText(id: string, { idLength }: Limits, field: () => string): void {
  if (id === '') throw invalidField(field(), 'must not be empty')
  if (id.length > idLength) throw invalidField(field(), `longer than ${idLength} characters`)
  checkReadable(id, field)
}

/** Throws INVALID_INPUT for a text that does not come back as it was sent, or breaks the line that it is shown in. */
export function checkReadable(text: string, field: () => string): void {
  if (unreadable.test(text))
    throw invalidField(field(), 'must not hold control characters or lone surrogates')
}

function checkCount(list: readonly unknown[], field: string, max: number): void {
  if (list.length > max) throw invalidField(field, `more than ${max} entries`)
}
