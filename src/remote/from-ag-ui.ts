import type { Agent } from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import type { AgUiAgent, FromAgUiOptions } from './options.js'
import { runRemote } from './run-remote.js'

/**
 * Makes an Agent of an agent of `@ag-ui/client`: an `HttpAgent` in front of an endpoint in any language, or any other
 * `AbstractAgent`. Every run is made with a copy of it (`clone()`), so it can be in several places at once.
 * Throws INVALID_AGENT when it has no name.
 *
 * @example
 * const researcher = fromAgUi(new HttpAgent({ url: 'https://agents.example/research' }), { name: 'researcher' })
 */
export function fromAgUi<A extends AgUiAgent>(agent: A, options: FromAgUiOptions<A> = {}): Agent {
  const name = options.name ?? agent.agentId
  if (name === undefined || name === '')
    throw new MillraceError('INVALID_AGENT', 'Give the agent a name: `fromAgUi(agent, { name })`.')
  const { description = agent.description ?? '', examples, capabilities } = options
  return {
    name,
    description,
    run: (ctx) => runRemote({ name, agent, options }, ctx),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
  }
}
