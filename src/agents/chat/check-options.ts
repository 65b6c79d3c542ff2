import { checkList, describeKind, foreignAgent, invalidAgent, isThenable, memberOf } from '../check-agent.js'
import { isRecord } from '../../core/json.js'
import type { Tool, ToolSource } from '../contract.js'
import type { Model } from '../../models/index.js'
import type { Middleware } from './middleware.js'

// Checked, though the types forbid all this: much code has no types, and a wrong value would fail in the first run only.

/** Throws INVALID_AGENT, saying what to write, for a value that is no model: one of another library, for example. */
export function checkModel(value: unknown, of: string): asserts value is Model {
  const foreign = foreignModel(value)
  if (foreign !== undefined) throw invalidAgent(`The model of ${of} is ${foreign}.`)
  if (isThenable(value)) throw invalidAgent(`The model of ${of} is a promise: await it.`)
  if (typeof memberOf(value, 'stream') === 'function') return
  const given = typeof value === 'string' ? `'${value}', a name` : describeKind(value)
  const advice =
    'the demoModel() to begin with, `modelFromEnv()`, or `fromAiSdk(...)` around one of the AI SDK'
  const isGiven = value !== undefined && value !== null
  const not = isGiven ? ` It is ${given}.` : ''
  // A name alone does not say where the model is.
  throw invalidAgent(`${of} needs a model: ${advice}.${not}`)
}

/** What the model of another library is, and what to write. */
function foreignModel(value: unknown): string | undefined {
  const has = (name: string): boolean => memberOf(value, name) !== undefined
  if (has('doStream')) return "of the AI SDK: write `fromAiSdk(...)` of 'millrace/models' around it"
  if (has('generateContentAsync')) return 'of Google ADK: use it in an agent of ADK, with `fromAdk`'
  if (has('bindTools') && has('invoke'))
    return 'of LangChain: use it in `createAgent` of LangChain, with `fromLangGraph`'
  return undefined
}

/** Throws INVALID_AGENT unless it is a list of tools and sources of tools. */
export function checkToolList(list: unknown, of: string): asserts list is readonly (Tool | ToolSource)[] {
  checkList(list, { of, option: 'tools', what: 'tools' })
  for (const [index, tool] of list.entries()) {
    const isSource = typeof memberOf(tool, 'tools') === 'function'
    const isTool = typeof memberOf(tool, 'call') === 'function' && isRecord(memberOf(tool, 'parameters'))
    if (isSource || (isTool && hasText(tool, 'name'))) continue
    throw invalidAgent(`\`tools[${index}]\` of ${of} is no tool: write ${toolAdvice(tool)}.`)
  }
}

function toolAdvice(value: unknown): string {
  const foreign = foreignAgent(value)
  // Tools of ADK and of LangChain share members with the agents there.
  const isTool =
    memberOf(value, 'lc_namespace') !== undefined || memberOf(value, '_getDeclaration') !== undefined
  if (foreign && !isTool) return `${foreign.write}, and \`agentTool(...)\` around that`
  if (typeof memberOf(value, 'run') === 'function') return '`agentTool(...)` around the agent'
  if (hasText(value, 'command') || memberOf(value, 'url') !== undefined)
    return '`mcpTools(...)` around the MCP server'
  return '`defineTool({ name, description, execute })`'
}

/** Throws INVALID_AGENT unless it is a list of middlewares. */
export function checkMiddlewares(list: unknown, of: string): asserts list is readonly Middleware[] {
  checkList(list, { of, option: 'middlewares', what: 'middlewares' })
  for (const [index, middleware] of list.entries()) {
    if (typeof middleware === 'object' && middleware !== null) continue
    const advice =
      typeof middleware === 'function' ? 'call it, as in `todoList()`' : 'write one, as in `todoList()`'
    throw invalidAgent(`\`middlewares[${index}]\` of ${of} is ${describeKind(middleware)}: ${advice}.`)
  }
}

function hasText(value: unknown, name: string): boolean {
  const text = memberOf(value, name)
  return typeof text === 'string' && text !== ''
}
