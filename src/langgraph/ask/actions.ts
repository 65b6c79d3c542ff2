import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { Answer } from '../../agents/index.js'
import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import { jsonValue } from './json-value.js'
import type { GraphInterruption } from '../graph-event.js'
import type { Question } from './questions.js'

/** What `humanInTheLoopMiddleware` asks: what to do about several calls at once. */
interface Review {
  readonly actionRequests: readonly unknown[]
  readonly reviewConfigs: readonly unknown[]
}

/** Whether a question is one of `humanInTheLoopMiddleware`. */
export function isReview(value: unknown): value is Review {
  return isRecord(value) && Array.isArray(value.actionRequests) && Array.isArray(value.reviewConfigs)
}

interface ReviewOptions {
  readonly id: string
  readonly lastMessage: BaseMessage | undefined
}

/** One question for each action of a review: `<id>:<place>`. The graph goes on when all have an answer. */
export function actionQuestions(asked: GraphInterruption, { id, lastMessage }: ReviewOptions): Question[] {
  const review = asked.value as Review
  const actions = review.actionRequests.map(actionOf)
  const calls = callsOf(actions, lastMessage)
  return actions.map(({ name, args, description }, index) => {
    const toolCallId = calls[index]
    const interrupt = {
      id: `${id}:${index}`,
      reason: 'confirmation',
      message: description ?? `May the tool "${name}" be called?`,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      responseSchema: decisionSchema(allowedFor(review, index)),
      metadata: { langgraph: { value: { name, args }, ns: [...asked.ns] } },
    }
    return { kind: 'action', interrupt, graphId: asked.id, index }
  })
}

interface Action {
  readonly name: string
  readonly args: unknown
  readonly description: string | undefined
}

function actionOf(request: unknown): Action {
  const fields = isRecord(request) ? request : {}
  return {
    name: typeof fields.name === 'string' ? fields.name : '',
    args: jsonValue(fields.args ?? fields.arguments) ?? {},
    description: typeof fields.description === 'string' ? fields.description : undefined,
  }
}

/** The middleware does not tell the calls. Its actions stand in their order, and some calls may have none. */
function callsOf(actions: readonly Action[], message: BaseMessage | undefined): (string | undefined)[] {
  const calls = message && AIMessage.isInstance(message) ? [...(message.tool_calls ?? [])] : []
  return actions.map(({ name, args }) => {
    const named = calls.findIndex((call) => call.name === name)
    const exact = calls.findIndex((call) => call.name === name && isEqual(call.args, args))
    const found = exact === -1 ? named : exact
    return found === -1 ? undefined : calls.splice(found, 1)[0]?.id
  })
}

function allowedFor({ reviewConfigs }: Review, index: number): readonly string[] {
  const config = reviewConfigs[index]
  const allowed = isRecord(config) ? config.allowedDecisions : undefined
  const names = Array.isArray(allowed) ? allowed.filter((name) => typeof name === 'string') : []
  return names.length > 0 ? names : ['approve', 'reject']
}

function decisionSchema(allowed: readonly string[]): Record<string, unknown> {
  const text = { type: 'string' }
  const editedAction = {
    type: 'object',
    properties: { name: text, args: { type: 'object' } },
    required: ['name', 'args'],
  }
  return {
    type: 'object',
    properties: {
      type: { enum: [...allowed] },
      ...(allowed.some((name) => name !== 'approve' && name !== 'edit') ? { message: text } : {}),
      ...(allowed.includes('edit') ? { editedAction } : {}),
    },
    required: ['type'],
  }
}

/** What the middleware is told about one action. Who walks away has not agreed. */
export function decisionOf(answer: Answer): unknown {
  if (answer.status === 'resolved') return answer.payload
  return { type: 'reject', message: 'The user did not answer.' }
}
