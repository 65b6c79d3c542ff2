import { defineAgent, defineTool, type Agent } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer, type Limits } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { handwritten } from '../http/agents.js'

/** The program of the server process. It sends its port when it listens, and then its CPU time when it is asked, in microseconds. */
export const serverFile = fileURLToPath(import.meta.url)

/** What an operator would set who expects a request or two a second of each user, and texts but no films. */
const limits: Partial<Limits> = {
  bodyBytes: 1024 * 1024,
  requestsPerUser: 120,
  requestsPerAddress: 600,
  failedIdentifications: 60,
  streamsPerUser: 50,
  connectionsPerAddress: 100,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
}

/** An unlucky pattern: with a matcher that backtracks, forty letters take for ever. */
const unlucky = { type: 'string', pattern: '^(a+)+$', format: 'uri' } as const

/** Calls a tool with whatever the user has said. */
function pattern(): Agent {
  const find = defineTool({
    name: 'find',
    description: 'Finds it.',
    parameters: { type: 'object', properties: { name: unlucky }, required: ['name'] },
    execute: () => 'Found.',
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role !== 'user') return 'Fine.'
    return [{ toolCall: { name: 'find', args: { name: last.content } } }]
  })
  return defineAgent({ name: 'pattern', model, tools: [find] })
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-abuse-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const nothing = (): void => undefined
  const server = createServer({
    agents: [...handwritten(), pattern()],
    store: await createSqliteStore({ path: join(folder, 'threads.db') }),
    identify: ({ headers }) => {
      const user = headers.get('x-user')
      return user === null ? undefined : { user }
    },
    whenBusy: 'wait',
    limits,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  })
  const { url } = await serve(server, { port: 0, signals: false })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.(Number(new URL(url).port))
}

if (process.argv[1] === serverFile) await main()
