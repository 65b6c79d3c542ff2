import type { Model, ModelPart, ModelRequest } from '../../models/index.js'
import type { ObservedEnd, RunContext } from '../contract.js'
import { nameAt } from '../run/address.js'

interface ModelRequestOfRun {
  readonly model: Model
  readonly request: ModelRequest
  readonly ctx: RunContext
}

/** A model's stream, with the observer of the run told of the request and of its end. */
export async function* observedStream(
  parts: AsyncIterable<ModelPart>,
  { model, request, ctx }: ModelRequestOfRun,
): AsyncGenerator<ModelPart, void> {
  const { instructions, messages, context, tools = [], toolChoice, output, settings } = request
  const end = ctx.services.onModelRequest?.({
    agent: nameAt(ctx.span.address),
    model: `${model.provider}/${model.modelId}`,
    ...(instructions === undefined ? {} : { instructions }),
    messages,
    tools,
    settings: {
      ...settings,
      ...(context === undefined ? {} : { context }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(output === undefined ? {} : { output }),
    },
  })
  let ended: ObservedEnd = {}
  try {
    for await (const part of parts) {
      if (part.type === 'finish' && part.usage) ended = { usage: part.usage }
      yield part
    }
  } catch (error) {
    ended = { ...ended, error }
    throw error
  } finally {
    end?.(ended)
  }
}
