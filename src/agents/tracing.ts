import { context, SpanKind, type Attributes, type Context } from '@opentelemetry/api'
import type { Model, ModelPart, ModelRequest } from '../models/index.js'
import { startWork, type WorkSpan } from './work-span.js'

/** Where a piece of work belongs, and what stops it. */
export interface SpanPlace {
  readonly parent: Context
  readonly signal: AbortSignal
}

/** A subagent at work. Names and attributes, here and below, are those of OpenTelemetry for generative AI. */
export function agentSpan(name: string, place: SpanPlace): WorkSpan {
  return startWork({
    ...place,
    name: `invoke_agent ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
    fallback: 'AGENT_ERROR',
  })
}

/** A tool at work. Without a name when there is no such tool: then the name is something the model said. */
export function toolSpan(
  { id, name }: { readonly id: string; readonly name?: string },
  place: SpanPlace,
): WorkSpan {
  return startWork({
    ...place,
    name: name === undefined ? 'execute_tool' : `execute_tool ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
      ...(name === undefined ? {} : { 'gen_ai.tool.name': name }),
    },
    fallback: 'TOOL_ERROR',
  })
}

/**
 * What a model answers, with a span around it. When nobody looks this is the stream of the model itself, so that
 * tracing costs nothing for each part.
 */
export function tracedAnswer(model: Model, request: ModelRequest, parent: Context): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      const span = modelSpan(model, { parent, signal: request.signal })
      const source = span.isRecording ? observed(model, request, span) : model.stream(request)
      return source[Symbol.asyncIterator]()
    },
  }
}

function modelSpan({ provider, modelId }: Model, place: SpanPlace): WorkSpan {
  return startWork({
    ...place,
    name: `chat ${modelId}`,
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerNames.get(provider) ?? provider,
      'gen_ai.request.model': modelId,
    },
    fallback: 'MODEL_ERROR',
  })
}

/** Providers that the conventions call by another name. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['google.vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

async function* observed(
  model: Model,
  request: ModelRequest,
  span: WorkSpan,
): AsyncGenerator<ModelPart, void> {
  let facts: Attributes | undefined
  try {
    for await (const part of within(span.context, () => model.stream(request))) {
      if (part.type === 'finish') facts = answerFacts(part)
      yield part
    }
    facts ??= {}
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    if (facts) span.end(facts)
    else span.stop()
  }
}

function answerFacts({ reason, usage }: Extract<ModelPart, { type: 'finish' }>): Attributes {
  const { inputTokens, outputTokens } = usage ?? {}
  return {
    'gen_ai.response.finish_reasons': [reason],
    ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
  }
}

/** A stream whose source works inside of a span: those that a provider's client makes belong to it. */
function within<T>(own: Context, open: () => AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const source = context.with(own, () => open()[Symbol.asyncIterator]())
      return {
        next: () => context.with(own, () => source.next()),
        async return() {
          await context.with(own, () => source.return?.())
          return { done: true, value: undefined }
        },
      }
    },
  }
}
