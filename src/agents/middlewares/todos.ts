import { isRecord } from '../../core/is-record.js'
import type { JsonSchema } from '../../models/index.js'

export type TodoStatus = 'pending' | 'in_progress' | 'completed'

/** A step of a plan. */
export interface Todo {
  readonly content: string
  readonly status: TodoStatus
}

const marks: Readonly<Record<TodoStatus, string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
}

const mostTodos = 100
const longestContent = 500

/** What a model has to send: the whole list. */
export const todosSchema: JsonSchema = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      maxItems: mostTodos,
      description: 'The whole list, in order. It replaces the one before.',
      items: {
        type: 'object',
        properties: {
          content: {
            type: 'string',
            minLength: 1,
            maxLength: longestContent,
            description: 'What is to be done.',
          },
          status: { enum: Object.keys(marks) },
        },
        required: ['content', 'status'],
        additionalProperties: false,
      },
    },
  },
  required: ['todos'],
  additionalProperties: false,
}

/** The todos in a value that may come from a client: those that are some, and no more than a model may write. */
export function toTodos(value: unknown): Todo[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, mostTodos).flatMap((one: unknown): Todo[] => {
    if (!isRecord(one) || typeof one.content !== 'string' || !isStatus(one.status)) return []
    return [{ content: one.content.slice(0, longestContent), status: one.status }]
  })
}

/** One line for each: `[x] buy milk`. */
export function showTodos(todos: readonly Todo[]): string {
  return todos.map(({ content, status }) => `${marks[status]} ${content.replaceAll(/\s+/g, ' ')}`).join('\n')
}

function isStatus(value: unknown): value is TodoStatus {
  return typeof value === 'string' && Object.hasOwn(marks, value)
}
