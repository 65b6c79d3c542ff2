import type { Message, ToolCall } from '@ag-ui/core'
import { stableHash } from '../core/hash.js'
import type { Control } from './agent.js'
import type { RunScope } from './context.js'
import { nameAt } from './history/address.js'
import { createCallRecord, type CallRecord } from './history/call-record.js'

/** The span of an agent: the same in the run that resumes this one, so that a client can tell that it goes on. */
export function spanId({ resumption }: RunScope, address: string): string {
  return `sub-${stableHash(`${resumption.originRunId}\n${address}`)}`
}

/** Where it is kept how an agent ended, until the one that runs it has taken note. */
export function endKey(address: string): string {
  return `${address}/end`
}

/** Where the words of an agent are kept that works on a tool call, until it has answered. */
function wordsKey(address: string): string {
  return `${address}/words`
}

/** How an agent ended that is over already. The run was stopped before the one that runs it could take note. */
export function takeEnd({ resumption: { frames } }: RunScope, address: string): Control | undefined {
  const end = frames.get(endKey(address)) as Control | undefined
  frames.delete(endKey(address))
  return end
}

/** Begins to write down what is said behind a call, or goes on with it. */
export function openRecord(scope: RunScope, address: string): CallRecord {
  const { frames, resumption } = scope
  const kept = (resumption.frames.get(wordsKey(address)) ?? []) as readonly Message[]
  const before = withoutLost(kept, (scope.shown ?? scope.held)())
  resumption.frames.delete(wordsKey(address))
  // Their ids are taken: the conversation of the run, which says so of all others, may not have them.
  for (const { id } of before.flatMap(callsIn)) scope.services.callId(id)
  const record = createCallRecord({ name: nameAt(address), subagentRunId: spanId(scope, address), before })
  frames.set(wordsKey(address), () => record.close())
  return record
}

/** Without results that did not get to the client: the run was stopped while they were on their way. */
function withoutLost(kept: readonly Message[], shown: readonly Message[]): readonly Message[] {
  const arrived = new Set(shown.map(({ id }) => id))
  // Of agents that are not shown, nothing arrives anywhere.
  if (!kept.some(({ id }) => arrived.has(id))) return kept
  return kept.filter(({ id, role }) => role !== 'tool' || arrived.has(id))
}

function callsIn(message: Message): readonly ToolCall[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []) : []
}

/** Nobody goes on at an agent that is over, nor below it. */
export function forget({ frames, resumption }: RunScope, address: string): void {
  for (const map of [frames, resumption.frames])
    for (const key of map.keys()) if (key === address || key.startsWith(`${address}/`)) map.delete(key)
}
