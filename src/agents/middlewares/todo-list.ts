import type { Message } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { JsonSchema } from '../../models/index.js'
import type { Middleware } from '../chat/middleware.js'
import type { Tool } from '../contract.js'
import { defineTool } from '../tools/define-tool.js'
import { checkStateKey, readStateKey, withStateKey } from './state-key.js'
import { addInstructions } from './instructions.js'

export interface TodoListOptions {
  /** The list's key in the shared state. Default `todos`. Agents of one run with separate lists need a key each. */
  readonly key?: string
  /** Tells the model when to use the list. */
  readonly instructions?: string
}

export interface Todo {
  readonly content: string
  readonly status: TodoStatus
}

export type TodoStatus = 'pending' | 'in_progress' | 'completed'

const toolName = 'write_todos'

const usage = [
  `For work of three or more steps, keep a list of them with the tool ${toolName}.`,
  'Write it before you begin, mark a step in_progress when you start on it and completed as soon as it is done,',
  'and add, change or remove steps when you learn more. Do without for simple requests.',
].join(' ')

/**
 * Lets an agent plan: the tool `write_todos` replaces a list of steps, each pending, in progress or completed. The list
 * is in the shared state, where the client can show and change it. Every model request contains the current list, unless
 * it is empty, in later runs of the thread too: as the tool's last result, or at the end when the client has changed it since.
 * What comes before stays the same from call to call, so providers can cache it.
 *
 * @example
 * const agent = defineAgent({ name: 'builder', model, tools, middlewares: [todoList()] })
 */
export function todoList({ key = 'todos', instructions = usage }: TodoListOptions = {}): Middleware {
  checkStateKey('key', key)
  const writeTodos = writeTodosTool(key)
  return {
    tools: [writeTodos],
    onStart: (setup) => ({
      instructions: addInstructions(setup.instructions, instructions),
      tools: [...setup.tools, writeTodos],
    }),
    model(request, next, ctx) {
      const todos = toTodos(readStateKey(ctx.state, key))
      if (todos.length === 0) return next(request)
      const list = listResult(todos)
      const { messages } = request
      if (lastListIn(messages) === list) return next(request)
      const content = `The list of steps has changed. ${list}`
      return next({ ...request, messages: [...messages, { id: `${key}-list`, role: 'user', content }] })
    },
  }
}

function writeTodosTool(key: string): Tool {
  return defineTool<{ readonly todos: readonly Todo[] }>({
    name: toolName,
    description: 'Writes the list of steps of the work at hand. Each call replaces the whole list.',
    parameters: todosSchema,
    execute({ todos }, ctx) {
      ctx.setState((state: unknown) => withStateKey(state, key, todos))
      return todos.length === 0 ? 'The list is empty now.' : listResult(todos)
    },
  })
}

const listTitle = 'The list is now:\n'

function listResult(todos: readonly Todo[]): string {
  return `${listTitle}${formatTodos(todos)}`
}

/** The list as the model has written it last, if that is still in the conversation. */
function lastListIn(messages: readonly Message[]): unknown {
  const last = messages.findLast(
    ({ role, content }) => role === 'tool' && typeof content === 'string' && content.startsWith(listTitle),
  )
  return last?.content
}

const marks: Readonly<Record<TodoStatus, string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
}

const maxTodos = 100
const maxContentLength = 500

const todosSchema: JsonSchema = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      maxItems: maxTodos,
      description: 'The whole list, in order. It replaces the one before.',
      items: {
        type: 'object',
        properties: {
          content: {
            type: 'string',
            minLength: 1,
            maxLength: maxContentLength,
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

/** The valid todos of a value that may come from a client, within the limits of the tool. */
export function toTodos(value: unknown): Todo[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, maxTodos).flatMap((entry: unknown): Todo[] => {
    if (!isRecord(entry) || typeof entry.content !== 'string' || !isStatus(entry.status)) return []
    return [{ content: entry.content.slice(0, maxContentLength), status: entry.status }]
  })
}

/** One line for each: `[x] buy milk`. */
export function formatTodos(todos: readonly Todo[]): string {
  return todos.map(({ content, status }) => `${marks[status]} ${content.replaceAll(/\s+/g, ' ')}`).join('\n')
}

function isStatus(value: unknown): value is TodoStatus {
  return typeof value === 'string' && Object.hasOwn(marks, value)
}
