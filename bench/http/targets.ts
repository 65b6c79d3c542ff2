import { createMemoryStore } from 'millrace/memory'
import { serve } from 'millrace/node'
import { createServer, type ServerOptions } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { handwritten, ofTheKit } from './agents.js'
import { jsonEach, listen, preEncoded } from './bare.js'

export type TargetName = keyof typeof targets

/** The servers to measure. Each starts and returns its port. */
export const targets = {
  bare: async () => listen(await preEncoded()),
  json: () => listen(jsonEach()),
  memory: () => millrace({}),
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    return millrace({ store: await createSqliteStore({ path: join(folder, 'threads.db') }) })
  },
  hooks: () =>
    millrace({
      hooks: {
        event: (event) => event,
        outputRecord: () => undefined,
        outputChange: (event) => event,
      },
    }),
  kit: () => millrace({ agents: ofTheKit() }),
  // Imported on demand: ADK takes seconds to load.
  adkRunner: async () => listen((await import('./adk.js')).adkRunner()),
  adk: async () => millrace({ agents: (await import('./adk.js')).adkAgents() }),
}

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (facts: object, message: string) => console.error(message, facts),
}

async function millrace(options: Partial<ServerOptions>): Promise<number> {
  const server = createServer({
    agents: handwritten(),
    store: createMemoryStore(),
    limits: { runs: 5000, runsPerUser: 5000, streamsPerUser: 5000 },
    log,
    ...options,
  })
  const { url } = await serve(server, { port: 0, signals: false })
  return Number(new URL(url).port)
}
