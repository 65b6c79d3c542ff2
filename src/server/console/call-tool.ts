import {
  defineAgent,
  run,
  type OutlinedTool,
  type OutlineNode,
  type OutlineReference,
  type Tool,
} from '../../agents/index.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { scriptedModel } from '../../models/index.js'
import type { ServerContext } from '../context.js'
import { invalidField } from '../request/errors.js'
import { forbidden } from '../request/operators.js'
import { readJson } from '../request/read-json.js'
import { jsonResponse, type UserRequest, type UserRoute } from '../routes/route.js'
import { outlineInTime } from './session.js'

/** `POST /tools/{agent}/{tool}`: calls a tool with the arguments of an operator, in a run of its own that nobody stores. */
export const callToolRoute: UserRoute = {
  method: 'POST',
  path: '/tools/:agent/:tool',
  async handle(server, request) {
    const { user, address, isOperator } = request
    const [agent, tool] = [request.param('agent'), request.param('tool')]
    return server.audit.during({ action: 'call-tool', ...user, agent, tool, address }, async () => {
      if (!isOperator) throw forbidden('Only operators may call tools from the console.')
      checkOwnPage(request.request)
      const body = await readJson(request.request, user, server)
      if (!isRecord(body)) throw invalidField('arguments', 'send an object with the arguments of the tool')
      const found = await findTool(server, agent, tool)
      return jsonResponse(await callTool(server, request, { tool: found, agent, ...asCall(body) }))
    })
  },
}

/** A page of another site must not make the browser of an operator call tools. */
function checkOwnPage({ headers, url }: Request): void {
  const origin = headers.get('origin')
  const host = headers.get('host') ?? new URL(url).host
  const isOwn = origin === null || (URL.canParse(origin) && new URL(origin).host === host)
  const site = headers.get('sec-fetch-site') ?? 'same-origin'
  if (isOwn && (site === 'same-origin' || site === 'none')) return
  throw forbidden('Tools can be called from the console of this server only.')
}

function asCall(body: Readonly<Record<string, unknown>>): {
  readonly args: unknown
  readonly state: unknown
} {
  return { args: body.arguments ?? {}, state: body.state ?? {} }
}

/** A tool of an agent anywhere in the trees that are served, the agents themselves first. Throws NOT_FOUND. */
async function findTool(
  { agents, clock }: ServerContext,
  agentName: string,
  toolName: string,
): Promise<OutlinedTool> {
  const roots = await Promise.all(Array.from(agents.values(), (agent) => outlineInTime(agent, clock)))
  const level: (OutlineNode | OutlineReference)[] = roots
  for (const node of level) {
    if ('ref' in node) continue
    const found = node.name === agentName && node.tools.find(({ name }) => name === toolName)
    if (found) return found
    level.push(...node.agents)
  }
  throw new MillraceError(
    'NOT_FOUND',
    'There is no such tool. GET /session lists the agents and their tools.',
  )
}

interface ToolRequest {
  readonly tool: OutlinedTool
  readonly agent: string
  readonly args: unknown
  readonly state: unknown
}

type ToolAnswer =
  | { readonly result: unknown; readonly state: unknown }
  | { readonly error: { readonly code: string; readonly message: string } }

/** The tool has all that it has in a run: state, limits, a signal. It cannot ask a person. */
async function callTool(
  server: ServerContext,
  { request, user, claims }: UserRequest,
  { tool, agent, args, state }: ToolRequest,
): Promise<ToolAnswer> {
  const { call } = tool
  if (!call) return { error: { code: 'TOOL_ERROR', message: 'This tool can be called in a run only.' } }
  const { name, description, parameters, timeoutMs } = tool
  const called: Tool = {
    ...{ name, description, parameters, returnDirectly: true },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    call: (given, ctx) => call.call(tool, given, ctx),
  }
  const { limits, clock, newId } = server
  const release = server.registry.reserve({ ...user, agent, thread: '' })
  try {
    const model = scriptedModel([[{ toolCall: { name, args } }]])
    const outcome = await run(
      defineAgent({ name: agent, model, tools: [called], onToolError: 'throw' }),
      { messages: [], state },
      {
        ...{ signal: request.signal, identity: { ...user, claims }, clock, newId, sizes: limits },
        ...{ runTimeoutMs: limits.runTimeoutMs, toolTimeoutMs: limits.toolTimeoutMs },
        toolResultBytes: limits.toolResultBytes,
      },
    ).result
    if (outcome.type === 'completed') return { result: outcome.result ?? null, state: outcome.state }
    if (outcome.type === 'interrupted')
      return { error: { code: 'TOOL_ERROR', message: 'The tool asks a person, which it can in a run only.' } }
    return { error: toToolError(outcome.type === 'failed' ? outcome.error : undefined) }
  } finally {
    release()
  }
}

/** Operators may read what the tool itself says. */
function toToolError(error: unknown): { readonly code: string; readonly message: string } {
  const own = MillraceError.isInstance(error) && error.code === 'TOOL_ERROR' ? (error.cause ?? error) : error
  const { code, message } = toWireError(own, 'TOOL_ERROR')
  return { code, message: own instanceof Error ? own.message : message }
}
