import { MillraceError } from '../../core/errors.js'
import { isRecord, parseJson } from '../../core/json.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext, Tool, TransferTarget } from '../contract.js'
import { addOrigin } from '../history/message-origin.js'
import { teamToolName, transferToolName } from '../history/rewrite-history.js'
import { wrapAgent } from '../wrap-agent.js'

/** The tool by which a model transfers to another agent. */
export function transferTool(targets: readonly TransferTarget[]): Tool {
  const names = targets.map(({ name }) => name)
  const list = targets.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  return {
    name: transferToolName,
    description: `Hand the conversation over to another agent, when it is better suited to go on.\n${list}`,
    parameters: {
      type: 'object',
      properties: {
        agent_name: { type: 'string', enum: names, description: 'The agent to hand over to.' },
      },
      required: ['agent_name'],
      additionalProperties: false,
    },
    call(args, ctx) {
      const to = Reflect.get(Object(args), 'agent_name') as unknown
      if (typeof to !== 'string' || !names.includes(to)) {
        const message = `There is no agent '${String(to)}' to hand over to. Agents: ${names.join(', ')}.`
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', message)
      }
      ctx.transfer(to)
      return transferred(to)
    },
  }
}

function transferred(to: string): string {
  return `Transferred to '${to}'.`
}

/**
 * The same agent, whose model may transfer though its runtime knows nothing of transfers: it gets the tool among the
 * client's. Agents of `defineAgent` use their own tool.
 */
export function withTransferTool(agent: Agent): Agent {
  return wrapAgent(agent, async function* (ctx) {
    if (ctx.transferTargets.length === 0) return yield* agent.run(ctx)
    const { description, parameters } = transferTool(ctx.transferTargets)
    const tools = [...ctx.client.tools, { name: teamToolName, description, parameters }]
    const client = { value: { ...ctx.client, tools } }
    // Inherited, not copied: members such as `state` are live.
    const source = agent.run(Object.create(ctx, { client }) as RunContext)
    const calls = new Map<string, string>()
    const mark = addOrigin({ runId: ctx.resume.originRunId, address: ctx.span.address })
    try {
      for (;;) {
        const step = await source.next()
        if (step.done === true) return yield* transferBy(calls, step.value, ctx)
        noteTransferCall(calls, step.value)
        // What its own subagents write is the lead's, in later turns too.
        yield 'subagentRunId' in step.value ? mark(step.value) : step.value
      }
    } finally {
      await source.return({ type: 'cancelled' })
    }
  })
}

/** Collects the arguments of transfer calls, by id. */
function noteTransferCall(calls: Map<string, string>, event: AgentEvent): void {
  if (event.type !== 'TOOL_CALL_START' && event.type !== 'TOOL_CALL_CHUNK' && event.type !== 'TOOL_CALL_ARGS')
    return
  const { toolCallId = '' } = event
  if ('toolCallName' in event && event.toolCallName === teamToolName)
    calls.set(toolCallId, calls.get(toolCallId) ?? '')
  const args = calls.get(toolCallId)
  if (args !== undefined && 'delta' in event) calls.set(toolCallId, args + (event.delta ?? ''))
}

/** Answers the pending transfer calls, and ends with the transfer unless the client has other calls to execute. */
function* transferBy(
  calls: ReadonlyMap<string, string>,
  control: Control,
  ctx: RunContext,
): Generator<AgentEvent, Control> {
  const pending = control.type === 'done' ? (control.pendingToolCallIds ?? []) : []
  const own = pending.filter((id) => calls.has(id))
  const [first] = own
  if (first === undefined) return control
  const args = parseJson(calls.get(first) ?? '')
  const to = isRecord(args) ? String(args.agent_name) : ''
  const others = pending.filter((id) => !calls.has(id))
  const content =
    others.length > 0 ? 'Not yet: call this again when the other tools have answered.' : transferred(to)
  for (const toolCallId of own)
    yield { type: 'TOOL_CALL_RESULT', messageId: ctx.services.newId('message'), toolCallId, content }
  return others.length > 0 ? { type: 'done', pendingToolCallIds: others } : { type: 'transfer', to }
}
