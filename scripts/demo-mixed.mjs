import { HttpAgent } from '@ag-ui/client'
import { parallel } from 'millrace'
import { fromAgUi } from 'millrace/remote'

/**
 * Agents of all runtimes side by side: the given ones, and a remote one over AG-UI, which is this server itself once
 * `connect` has set its URL.
 *
 * @param {import('millrace').Agent[]} agents
 */
export function createMixedAgent(agents) {
  let own
  const prepare = (client) => {
    if (own === undefined) throw new Error('The server has not started yet.')
    client.url = own.url
    client.headers = own.headers
  }
  const remote = fromAgUi(new HttpAgent({ url: 'http://127.0.0.1' }), {
    name: 'remote',
    description: 'An agent that is reached over AG-UI.',
    prepare,
  })
  const agent = parallel({
    name: 'mixed',
    description: 'Agents of the kit, of Google ADK and of LangGraph and one over AG-UI, side by side.',
    agents: [...agents, remote],
    examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
  })
  return { agent, connect: (url, headers) => void (own = { url, headers }) }
}
