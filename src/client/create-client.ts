import { MillraceError } from '../core/errors.js'
import type { AgentInfo, Client, ClientOptions, ThreadList, ThreadPage } from './contract.js'
import { createHttp, RequestFailure, type HttpRequest } from './http.js'
import { createThread } from './thread.js'

/**
 * Creates a client of a Millrace server, for browsers, Node, Bun and Deno.
 *
 * @example
 * const client = createClient({ url: 'http://localhost:8000' })
 * const thread = client.thread('concierge')
 * await thread.send('Hello')
 */
export function createClient(options: ClientOptions): Client {
  const http = createHttp(options)
  const fetchJson = async (request: HttpRequest): Promise<unknown> => {
    try {
      return await (await http.send(request)).json()
    } catch (error) {
      throw error instanceof RequestFailure ? error.error : error
    }
  }
  const list = async (agent: string, page: ThreadPage, search?: string): Promise<ThreadList> => {
    const query = new URLSearchParams()
    if (search !== undefined && search !== '') query.set('search', search)
    for (const [name, value] of Object.entries(page)) query.set(name, String(value))
    return (await fetchJson({
      method: 'GET',
      path: `${agentPath(agent)}/thread/list?${query.toString()}`,
    })) as ThreadList
  }
  const label = async (agent: string, threadId: string, body: object): Promise<void> => {
    await fetchJson({ method: 'PATCH', path: threadPath(agent, threadId), body })
  }
  return {
    thread: (agent, threadId, threadOptions = {}) => {
      if (threadId === '')
        throw new MillraceError('INVALID_OPTIONS', 'threadId: an id, or nothing for a new thread.')
      // What the type parameters say is the application's word.
      return createThread(http, options, { ...threadOptions, agent, threadId }) as never
    },
    threads: {
      list: (agent, page = {}) => list(agent, page),
      search: (agent, text, page = {}) => list(agent, page, text),
      rename: (agent, threadId, title) => label(agent, threadId, { title }),
      archive: (agent, threadId) => label(agent, threadId, { archived: true }),
      unarchive: (agent, threadId) => label(agent, threadId, { archived: false }),
      async delete(agent, threadId) {
        await fetchJson({ method: 'DELETE', path: threadPath(agent, threadId) })
      },
    },
    async agents() {
      const { agents } = (await fetchJson({ method: 'GET', path: '/agents' })) as {
        agents: readonly AgentInfo[]
      }
      return agents
    },
  }
}

function agentPath(agent: string): string {
  return `/agents/${encodeURIComponent(agent)}`
}

function threadPath(agent: string, threadId: string): string {
  return `${agentPath(agent)}/thread/${encodeURIComponent(threadId)}`
}
