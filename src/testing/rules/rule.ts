import type { Message, RunAgentInput } from '@ag-ui/core'
import type { AgUiEvent, EventOf } from '../../protocol/index.js'
import type { LintRule } from './rule-names.js'
import type { RunFacts } from './run-facts.js'

/** A violation without its index in the stream. */
export interface Finding {
  readonly rule: LintRule
  readonly message: string
}

/** One event with the facts about the stream before it. */
export interface RuleContext {
  readonly event: AgUiEvent
  /** The event as it was sent: before defaults were filled in and before a chunk was expanded. */
  readonly sent: Readonly<Record<string, unknown>>
  readonly run: RunFacts
  /** The messages a client holds. */
  readonly messages: readonly Message[]
  /** The input of the request, when it is known. */
  readonly input: RunAgentInput | undefined
}

/** A pure check of one event in its context. */
export interface Rule {
  readonly name: LintRule
  /** One sentence per violation. */
  check(context: RuleContext): Iterable<string>
}

/** Defines a rule about events of some types. */
export function defineRule<T extends AgUiEvent['type']>(
  name: LintRule,
  types: readonly T[],
  check: (event: EventOf<T>, context: RuleContext) => Iterable<string>,
): Rule {
  const applies = (event: AgUiEvent): event is EventOf<T> => types.some((type) => type === event.type)
  return { name, check: (context) => (applies(context.event) ? check(context.event, context) : []) }
}

/** The name of the tool of a call, if the client knows the call. */
export function toolNameOf(toolCallId: string, { run, messages }: RuleContext): string | undefined {
  const streamed = run.calls.get(toolCallId)
  if (streamed !== undefined) return streamed
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const call = message.toolCalls?.find(({ id }) => id === toolCallId)
    if (call) return call.function.name
  }
  return undefined
}

/** Whether the input of the client has the tool. */
export function isClientTool(name: string | undefined, { input }: RuleContext): boolean {
  return input?.tools.some((tool) => tool.name === name) ?? false
}

/** What to do when the server has a tool of its own under that name. */
export const serverToolHint = ' (if the server has a tool of that name, list it in `serverTools`)'

/** Ids, or other names, for a sentence. */
export function quoteNames(names: Iterable<string>): string {
  return [...names].map((name) => `'${name}'`).join(', ')
}
