import type { Message } from '@ag-ui/core'
import {
  checkNumber,
  defineTool,
  type Agent,
  type Control,
  type RunContext,
  type Tool,
  type ToolContext,
} from '../agents/index.js'
import type { Model } from '../models/index.js'
import type { AgentEvent } from '../protocol/index.js'
import type { A2uiOptions } from './contract.js'
import { progressEvent } from './progress.js'
import { generateTool, renderTextTool, renderTool, writeSurface } from './write-surface.js'

export interface A2uiToolOptions extends A2uiOptions {
  /** The model that writes surfaces. */
  readonly model: Model
}

/**
 * The tool `generate_a2ui` for agents of the kit: a model writes a surface of the components that the page can draw. What it
 * writes is checked; it is told what is wrong and tries again. Put `withA2ui` around the agent.
 */
export function a2uiTool({ model, ...options }: A2uiToolOptions): Tool {
  checkA2uiOptions(options)
  return defineTool({
    ...generateTool,
    execute: (args: unknown, ctx: ToolContext) =>
      writeSurface(options, {
        args,
        messages: messagesBefore(ctx),
        context: ctx.client.context,
        write: (prompt, onText) => askModel({ model, prompt, onText, ctx }),
        show: (progress) => ctx.emit(progressEvent(ctx.toolCallId, progress)),
      }),
  })
}

/** Throws INVALID_AGENT for options that mean nothing. */
export function checkA2uiOptions({ maxAttempts = 1 }: A2uiOptions): void {
  checkNumber('maxAttempts', maxAttempts, { min: 1, max: 10, isInteger: true })
}

/** Models refuse a call without its result. */
function messagesBefore({ messages, toolCallId }: ToolContext): readonly Message[] {
  const isCaller = (message: Message): boolean =>
    message.role === 'assistant' && message.toolCalls?.some(({ id }) => id === toolCallId) === true
  const at = messages.findLastIndex(isCaller)
  return at === -1 ? messages : messages.slice(0, at)
}

interface ModelCall {
  readonly model: Model
  readonly prompt: string
  readonly onText: (characters: number) => void
  readonly ctx: ToolContext
}

/** As an agent behind the call, whose tokens count and which nobody sees. */
async function askModel({ model, prompt, onText, ctx }: ModelCall): Promise<unknown> {
  const writer: Agent = {
    name: renderTool.name,
    description: renderTool.description,
    run: (run) => writeOnce(run, { model, prompt, onText }),
  }
  const written = ctx.delegate(writer, { messages: messagesBefore(ctx), isSilent: true })
  for (;;) {
    const step = await written.next()
    if (step.done === true) return step.value.type === 'done' ? step.value.result : undefined
  }
}

// eslint-disable-next-line require-yield -- it has nothing to show
async function* writeOnce(
  { messages, signal, services }: RunContext,
  { model, prompt, onText }: Omit<ModelCall, 'ctx'>,
): AsyncGenerator<AgentEvent, Control> {
  let args = ''
  let callId: string | undefined
  for await (const part of model.stream({
    instructions: prompt,
    messages,
    tools: [/google|gemini|vertex/i.test(model.provider) ? renderTextTool : renderTool],
    toolChoice: { toolName: renderTool.name },
    signal,
  })) {
    if (part.type === 'tool-call-start' && part.toolName === renderTool.name) callId ??= part.toolCallId
    if (part.type === 'tool-call-delta' && part.toolCallId === callId) {
      args += part.delta
      onText(part.delta.length)
    }
    if (part.type === 'finish' && part.usage) services.addUsage(part.usage)
  }
  return { type: 'done', ...(callId === undefined ? {} : { result: args }) }
}
