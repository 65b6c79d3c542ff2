import { MillraceError } from '../../core/errors.js'
import { defineTool } from '../tools/define-tool.js'
import type { Middleware } from '../chat/middleware.js'
import type { Tool } from '../contract.js'
import { addInstructions } from './add-instructions.js'
import { readStateKey, withStateKey } from './state-key.js'
import { showTodos, todosSchema, toTodos, type Todo } from './todos.js'

export interface TodoListOptions {
  /** Where in the shared state the list is: `todos` unless told. Agents of one run that plan apart need one each. */
  readonly key?: string
  /** What the model is told about when to use the list. */
  readonly instructions?: string
}

const toolName = 'write_todos'

const usage = [
  `For work of three or more steps, keep a list of them with the tool ${toolName}.`,
  'Write it before you begin, mark a step in_progress when you start on it and completed as soon as it is done,',
  'and add, change or remove steps when you learn more. Do without for simple requests.',
].join(' ')

/**
 * Lets an agent plan: the tool `write_todos` replaces a list of steps, each pending, in progress or completed. The list
 * is in the shared state, where the client can draw it, and may change it. The model is told how it stands with every
 * request, as long as there is something on it; also in later runs of the thread.
 *
 * @example
 * const agent = defineAgent({ name: 'builder', model, tools, middlewares: [todoList()] })
 */
export function todoList({ key = 'todos', instructions = usage }: TodoListOptions = {}): Middleware {
  if (key === '' || key === '__proto__')
    throw new MillraceError('INVALID_AGENT', `The option 'key' must be the name of a member, not '${key}'.`)
  const writeTodos = writeTodosTool(key)
  return {
    onStart: (setup) => ({
      instructions: addInstructions(setup.instructions, instructions),
      tools: [...setup.tools, writeTodos],
    }),
    model(request, next, ctx) {
      const todos = toTodos(readStateKey(ctx.state, key))
      if (todos.length === 0) return next(request)
      const standing = `Your list of steps, as it stands:\n${showTodos(todos)}`
      return next({ ...request, instructions: addInstructions(request.instructions, standing) })
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
      return todos.length === 0 ? 'The list is empty now.' : `The list is now:\n${showTodos(todos)}`
    },
  })
}
