import { HttpAgent, type RunAgentInput, type RunAgentResult } from '@ag-ui/client'
import { healingFetch, type HealingOptions } from './healing-fetch.js'

export type { HealingOptions }

/**
 * The `HttpAgent` of `@ag-ui/client` for a Millrace server. `connectAgent` loads a thread and follows its live run, a stream
 * that breaks is taken up again from its last event, and `abortRun` stops the run on the server.
 *
 * @example
 * const agent = new MillraceHttpAgent({ url: 'http://localhost:8000/agents/concierge/run', threadId: 'trip' })
 */
export const MillraceHttpAgent = /* @__PURE__ */ withReconnect(HttpAgent)
export type MillraceHttpAgent = InstanceType<typeof MillraceHttpAgent>

/** The members of an `HttpAgent` that versions from 0.0.59 to 1.0 share. */
interface AnyHttpAgent {
  url: string
  headers: Record<string, string>
  threadId: string
  fetch: (url: string, init: RequestInit) => Promise<Response>
  abortRun(): void
}

/**
 * The same for the `HttpAgent` of another version, and with other times: `class Agent extends withReconnect(HttpAgent) {}`,
 * `withReconnect(HttpAgent, { timeoutMs: 90_000 })`.
 */
export function withReconnect<Base extends new (config: never) => AnyHttpAgent>(
  Base: Base,
  options: HealingOptions = {},
): Base {
  return reconnecting(Base as unknown as typeof HttpAgent, options) as unknown as Base
}

function reconnecting(Base: typeof HttpAgent, options: HealingOptions): typeof HttpAgent {
  // No private members: the base class clones agents without its constructor.
  return class MillraceAgent extends Base {
    activeRunId: string | undefined
    /** Resolves when the server has been asked to stop. */
    stopping: Promise<void> | undefined

    override run(input: RunAgentInput): ReturnType<HttpAgent['run']> {
      this.activeRunId = input.runId
      // The base class sends with the `fetch` of what it runs on.
      return super.run.call(withMembers(this, { fetch: healing(this, input, options) }), input)
    }

    protected override connect(input: RunAgentInput): ReturnType<HttpAgent['run']> {
      // Whichever run is live: `abortRun` stops it.
      this.activeRunId = undefined
      // The base class makes a new one for runs only, and one that has aborted would end this at once.
      if (this.abortController.signal.aborted) this.abortController = new AbortController()
      const requestInit = (): RequestInit => ({
        ...this.requestInit(input),
        // Pages connect before anything was said.
        body: JSON.stringify({ ...threadOf(input), mayBeNew: true }),
      })
      const members = { url: routeOf(this.url, 'connect'), requestInit, fetch: healing(this, input, options) }
      return super.run.call(withMembers(this, members), input)
    }

    protected override requestInit(input: RunAgentInput): RequestInit {
      const init = super.requestInit(input)
      return {
        ...init,
        headers: { ...(init.headers as Record<string, string>), 'millrace-reconnects': 'true' },
      }
    }

    override async runAgent(...given: Parameters<HttpAgent['runAgent']>): Promise<RunAgentResult> {
      const { messages, stopping } = this
      if (stopping) {
        // The server refuses a run until the one before has stopped, and what that one still writes would replace the messages.
        await stopping
        await this.detachActiveRun()
        this.messages = messages
        this.stopping = undefined
      }
      return super.runAgent(...given)
    }

    /** The server ends the run, and with it the stream: its last words are closed, and nothing has failed. */
    override abortRun(): void {
      const { abortController } = this
      this.stopping = stopOnServer(this, this.activeRunId).then((hasStopped) => {
        if (!hasStopped) abortController.abort()
      })
    }
  }
}

const stopTimeoutMs = 10_000

/** Resolves when the run has stopped on the server, to false if there was none, or nobody to ask. */
async function stopOnServer(agent: HttpAgent, runId: string | undefined): Promise<boolean> {
  const { url, headers, threadId } = agent
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ threadId, ...(runId === undefined ? {} : { runId }) }),
    signal: AbortSignal.timeout(stopTimeoutMs),
  }
  try {
    const response = await agent.fetch(routeOf(url, 'cancel'), init)
    const { status } = (await response.json()) as { readonly status?: unknown }
    return response.ok && status === 'cancelled'
  } catch {
    return false
  }
}

/** A `fetch` whose streams go on when their connection breaks. */
function healing(
  { url, fetch }: HttpAgent,
  input: RunAgentInput,
  options: HealingOptions,
): HttpAgent['fetch'] {
  const rest = { url: routeOf(url, 'connect'), body: threadOf(input), options }
  return (address, init) => healingFetch(fetch, { url: address, init }, rest)
}

/** An object with other members, that is the agent in all else. */
function withMembers(agent: HttpAgent, members: object): HttpAgent {
  return Object.create(agent, Object.getOwnPropertyDescriptors(members)) as HttpAgent
}

/** A connection is for a thread: the run id that clients make up for the call means nothing to the server. */
function threadOf({ threadId, protocolVersion }: RunAgentInput): object {
  return { threadId, ...(protocolVersion === undefined ? {} : { protocolVersion }) }
}

/** The address of another route of the agent, whose runs are sent to `.../run` or to the root. */
function routeOf(url: string, route: string): string {
  return `${url.replace(/\/(run\/?)?$/, '')}/${route}`
}
