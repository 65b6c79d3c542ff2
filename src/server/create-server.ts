import { delay } from '../core/abort.js'
import { createApp } from './app.js'
import { createServerContext, type ServerContext } from './context.js'
import type { CloseOptions, Server, ServerOptions } from './contract.js'
import { loadThread } from './recovery/recover-thread.js'
import { serverClosing } from './run/lease.js'

/** How long runs may continue after `close`, in milliseconds. */
export const defaultGraceMs = 10_000

/**
 * Creates a server for agents.
 *
 * @example
 * const server = createServer({ agents: [agent], store: await createSqliteStore({ path: 'threads.db' }) })
 */
export function createServer(options: ServerOptions): Server {
  let isClosing = false
  const server = createServerContext(options, () => isClosing)
  const app = createApp(server, options)
  void recoverLostRuns(server)
  let closed: Promise<void> | undefined
  return {
    fetch: (request, env) => app.fetch(request, env),
    identifies: options.identify !== undefined,
    async close({ graceMs = defaultGraceMs }: CloseOptions = {}) {
      isClosing = true
      closed ??= closeWhenIdle(server)
      const timer = new AbortController()
      const graceOver = delay(graceMs, { clock: server.clock, signal: timer.signal }).catch(() => undefined)
      await Promise.race([closed, graceOver])
      timer.abort()
      const reason = serverClosing()
      server.registry.starting.stopAll(reason)
      for (const run of server.registry.all()) run.stop(reason)
      await closed
    },
  }
}

async function closeWhenIdle({ registry, housekeeping, store }: ServerContext): Promise<void> {
  // A request that came before may still become a run.
  while (registry.starting.size > 0 || registry.size > 0)
    await Promise.allSettled([...registry.starting.all(), ...registry.all().map(({ done }) => done)])
  await housekeeping.close()
  await store.close()
}

/** Ends the runs that an earlier process left behind. One that fails here is tried again when its thread is requested. */
async function recoverLostRuns(server: ServerContext): Promise<void> {
  const { store, log } = server
  const report = (error: unknown): void => log.error({ err: error }, 'a lost run could not be ended')
  const keys = await store.threads.unfinished().catch(report)
  for (const key of keys ?? []) await loadThread(server, key).catch(report)
}
