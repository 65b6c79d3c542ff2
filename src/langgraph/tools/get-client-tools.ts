import { tool, type DynamicStructuredTool } from '@langchain/core/tools'
import { isRecord } from '../../core/is-record.js'
import { askClient } from './ask-client.js'
import { runExtras, type HasConfigurable } from './run-extras.js'

/**
 * The tools of the client as tools of LangChain, for graphs that are written by hand: give them to `bindTools`. Then
 * either end the graph when one of them is called, and it starts again with the result; or have a `ToolNode` with them
 * run it, and the graph waits in its place for the result (which needs a checkpointer).
 *
 * @example
 * const callModel = async (state, config) => ({
 *   messages: [await model.bindTools([...tools, ...getClientTools(config)]).invoke(state.messages)],
 * })
 */
export function getClientTools(config: HasConfigurable | undefined): DynamicStructuredTool[] {
  return runExtras(config).tools.map(({ name, description, parameters }) => {
    const schema = isRecord(parameters) ? parameters : { type: 'object', properties: {} }
    const run = (args: unknown, runtime: unknown) => askClient({ id: callIdOf(runtime), name, args })
    return tool(run, { name, description, schema })
  })
}

function callIdOf(runtime: unknown): string {
  if (!isRecord(runtime)) return ''
  const { toolCallId, toolCall } = runtime
  const id = toolCallId ?? (isRecord(toolCall) ? toolCall.id : undefined)
  return typeof id === 'string' ? id : ''
}
