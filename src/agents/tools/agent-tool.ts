import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { checkAgent, checkDescription } from '../check-agent.js'
import type { Agent, DelegatedCall, Tool, ToolContext } from '../contract.js'
import { InterruptSignal } from '../interrupts/interrupt-scope.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { privateKeysMember } from '../private-keys.js'
import { rewriteHistory } from '../history/rewrite-history.js'
import { describeIssues } from '../json-schema/issues.js'
import { toChecker, toJsonSchema, type Schema } from './schema.js'

export interface AgentToolOptions {
  /** The schema of the input, which the agent gets as JSON. Default: a `request`, which it gets as text. */
  readonly input?: Schema
  /** What else the agent sees: nothing (default), or the whole history of its caller. */
  readonly history?: 'none' | 'full'
  /** Whether clients see its events, as those of a subagent. Default: yes. */
  readonly isShown?: boolean
}

/**
 * An agent as a tool of another: the model sends a request and gets the agent's result, or else its last text. Its
 * interrupts pass through; its exit, break and transfer stay inside.
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  checkAgent(agent, 'The agent of `agentTool`')
  checkDescription(agent, 'the model that may call it chooses by that')
  const { name, description } = agent
  const { history = 'none', isShown = true } = options
  const { input = requestSchema } = options
  const what = `The input of agent '${name}'`
  const check = toChecker(input, what)
  return {
    name,
    description,
    shape: agentTree(agent),
    agents: [agent],
    ...privateKeysMember([agent.privateKeys]),
    parameters: toJsonSchema(input, what),
    // The agent's own tools have limits, and so has the run.
    timeoutMs: Infinity,
    async call(args, ctx) {
      const checked = await check(args)
      if (!checked.ok) {
        const message = `The arguments of agent '${name}' do not fit:\n${describeIssues(checked.issues)}`
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', message)
      }
      const content = options.input ? JSON.stringify(checked.value) : requestIn(checked.value)
      const request: Message = { id: `${ctx.toolCallId}-request`, role: 'user', content }
      const messages = history === 'full' ? [...historyOf(ctx), request] : [request]
      return runAsTool(agent, ctx, { messages, isSilent: !isShown })
    },
  }
}

const requestSchema: Schema = {
  type: 'object',
  properties: {
    request: { type: 'string', description: 'What the agent is to do, with all it needs to know.' },
  },
  required: ['request'],
  additionalProperties: false,
}

function requestIn(args: unknown): string {
  return String(Reflect.get(Object(args), 'request'))
}

/** The history of the caller, as context. */
function historyOf({ messages, agentName }: ToolContext): readonly Message[] {
  const entries = messages
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map((message) => ({ message, agent: message.role === 'user' ? undefined : agentName, isOwn: false }))
  return rewriteHistory(entries)
}

async function runAsTool(agent: Agent, ctx: ToolContext, options: DelegatedCall): Promise<unknown> {
  const source = ctx.delegate(agent, options)
  try {
    for (;;) {
      const step = await source.next()
      if (step.done !== true) continue
      const control = step.value
      return 'result' in control ? control.result : ''
    }
  } catch (error) {
    throw options.isSilent === true && error instanceof InterruptSignal
      ? asInterruptOfCall(error, ctx)
      : error
  }
}

/** Raises the interrupts as those of this call: clients do not know the calls and agents behind it. */
function asInterruptOfCall(
  { openInterrupts, frames }: InterruptSignal,
  { toolCallId }: ToolContext,
): InterruptSignal {
  const own = openInterrupts.map(({ address, interrupt: { subagentRunId: _hidden, ...interrupt } }) => ({
    address,
    interrupt: { ...interrupt, toolCallId },
  }))
  return new InterruptSignal({ openInterrupts: own, frames })
}
