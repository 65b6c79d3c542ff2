import { PROTOCOL_VERSION, type Message, type ResumeEntry, type RunAgentInput } from '@ag-ui/core'
import type { RunContext } from '../agents/index.js'
import { isRejected } from '../protocol/index.js'
import type { AgUiAgent, Forwarded } from './options.js'

const everything: readonly Forwarded[] = ['context', 'forwardedProps', 'state', 'tools']

interface InputOptions {
  readonly threadId: string
  readonly runId: string
  readonly resume: readonly ResumeEntry[] | undefined
  readonly forward: readonly Forwarded[] | undefined
  readonly agent: AgUiAgent
  readonly messages: readonly Message[]
}

/** What the agent is run with. A copy: an agent in this process may write into it. */
export function remoteInput(ctx: RunContext, options: InputOptions): RunAgentInput {
  const { threadId, runId, resume, forward = everything, agent, messages } = options
  const goes = (part: Forwarded): boolean => forward.includes(part)
  const { forwardedProps } = ctx.client
  return structuredClone({
    threadId,
    runId,
    ...(speaksOne(agent) ? { protocolVersion: PROTOCOL_VERSION } : {}),
    messages: messages.filter(isForOthers),
    tools: goes('tools') ? [...ctx.client.tools] : [],
    context: goes('context') ? [...ctx.client.context] : [],
    state: goes('state') ? ctx.state : {},
    forwardedProps: goes('forwardedProps') ? (forwardedProps ?? {}) : {},
    ...(resume ? { resume: [...resume] } : {}),
  })
}

/** Activities are what a client shows, and what was taken back was never said. */
function isForOthers(message: Message): boolean {
  return message.role !== 'activity' && !isRejected(message)
}

/**
 * Whether the agent reads all of 1.0. Who declares the version is sent shapes that older clients fail on; an agent that
 * stands for an older server says so by `maxProtocolVersion`.
 */
function speaksOne(agent: AgUiAgent): boolean {
  const ceiling: unknown = Reflect.get(agent, 'maxProtocolVersion')
  return typeof ceiling === 'string' && Number.parseInt(ceiling, 10) >= 1
}
