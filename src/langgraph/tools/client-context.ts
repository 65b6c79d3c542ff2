import { HumanMessage, type BaseMessage } from '@langchain/core/messages'
import type { AgentMiddleware } from 'langchain'
import { contextForModels } from '../../bridge/model-context.js'
import { clientExtras, type HasConfigurable } from './client-extras.js'

/** The arguments of the middleware's hook, as far as they are used here. */
interface ModelCall {
  readonly messages: readonly BaseMessage[]
  readonly runtime: HasConfigurable
}

/**
 * Middleware for `createAgent`: the model reads the client's `context` behind the last message of the user, as models of the
 * kit do. It is the client's word, no instruction, and no part of the state.
 *
 * @example
 * createAgent({ model, tools, middleware: [clientTools(), clientContext()] })
 */
export function clientContext(): AgentMiddleware {
  const hooks = {
    // See `clientTools`.
    [Symbol.for('AgentMiddleware')]: true,
    name: 'ClientContext',
    wrapModelCall: (request: ModelCall, handler: (request: ModelCall) => unknown) =>
      handler({ ...request, messages: withContext(request.messages, request.runtime) }),
  }
  return hooks as unknown as AgentMiddleware
}

function withContext(messages: readonly BaseMessage[], runtime: HasConfigurable): BaseMessage[] {
  const lines = contextForModels(clientExtras(runtime)).map(
    ({ description, value }) => `${description}: ${value}`,
  )
  const at = messages.findLastIndex((message) => HumanMessage.isInstance(message))
  const message = messages[at]
  if (lines.length === 0 || message === undefined) return [...messages]
  const text = ['Context from the application, as it is now:', ...lines].join('\n')
  const said = message.content
  const content = typeof said === 'string' ? `${said}\n\n${text}` : [...said, { type: 'text' as const, text }]
  const { id, name, additional_kwargs } = message
  const extended = new HumanMessage({ content, additional_kwargs, ...(id && { id }), ...(name && { name }) })
  return messages.with(at, extended)
}
