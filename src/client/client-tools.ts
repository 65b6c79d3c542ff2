import type { ClientTool, ClientTools, PendingCall } from './contract.js'

/** The tools as a run request offers them. */
export function offeredTools(tools: ClientTools): object[] {
  return Object.entries(tools).map(([name, { description, parameters }]) => ({
    ...{ name, description },
    ...(parameters === undefined ? {} : { parameters }),
  }))
}

/** The result of a tool as the model reads it. */
export function toResultText(result: unknown): string {
  if (typeof result === 'string') return result
  return result === undefined ? '' : JSON.stringify(result)
}

/** Carries out a call. Never rejects: an error is the result. */
export async function executeTool(
  tool: ClientTool | undefined,
  { id: toolCallId, arguments: args }: PendingCall,
  signal: AbortSignal,
): Promise<{ readonly toolCallId: string; readonly content: string }> {
  try {
    const result: unknown = await tool?.execute?.((args === '' ? {} : JSON.parse(args)) as never, {
      toolCallId,
      signal,
    })
    return { toolCallId, content: toResultText(result) }
  } catch (error) {
    return { toolCallId, content: `Error: ${error instanceof Error ? error.message : String(error)}` }
  }
}
