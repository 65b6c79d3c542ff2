import type { Message, RunAgentInput } from '@ag-ui/core'
import type { AgUiEvent, EventOf } from '../../protocol/index.js'
import type { LintRule } from '../lint-rules.js'
import type { RunFacts } from '../run-facts.js'

/** A violation before it is given its place in the stream. */
export interface Finding {
  readonly rule: LintRule
  readonly message: string
}

/** One event together with all that came before it. */
export interface Moment {
  readonly event: AgUiEvent
  /** The event as it was sent: before defaults were filled in and before a chunk was expanded. */
  readonly sent: Readonly<Record<string, unknown>>
  readonly run: RunFacts
  /** The messages a client holds. */
  readonly messages: readonly Message[]
  /** The input of the request, when it is known. */
  readonly input: RunAgentInput | undefined
}

/** A pure check of one moment of a stream. */
export interface Rule {
  readonly name: LintRule
  /** One sentence per violation. */
  check(moment: Moment): Iterable<string>
}

/** A rule that looks at events of some types only. */
export function defineRule<T extends AgUiEvent['type']>(
  name: LintRule,
  types: readonly T[],
  check: (event: EventOf<T>, moment: Moment) => Iterable<string>,
): Rule {
  const concerns = (event: AgUiEvent): event is EventOf<T> => types.some((type) => type === event.type)
  return { name, check: (moment) => (concerns(moment.event) ? check(moment.event, moment) : []) }
}

/** The name of the tool a call went to, if the client knows the call. */
export function toolOf(toolCallId: string, { run, messages }: Moment): string | undefined {
  const streamed = run.calls.get(toolCallId)
  if (streamed !== undefined) return streamed
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const call = message.toolCalls?.find(({ id }) => id === toolCallId)
    if (call) return call.function.name
  }
  return undefined
}

/** Whether the tool is one the client brought with its input. */
export function isClientTool(name: string | undefined, { input }: Moment): boolean {
  return input?.tools.some((tool) => tool.name === name) ?? false
}

/** Ids, or other names, as they stand in a sentence. */
export function quote(names: Iterable<string>): string {
  return [...names].map((name) => `'${name}'`).join(', ')
}
