/**
 * A server for production, to copy and change: its agents, and how it knows its users. It needs
 *
 *   API_TOKENS       who may use it: ann=a-long-secret,bob=another
 *   OPENAI_API_KEY   or the key of another provider; without one the demo model answers
 *
 * and takes HOST (127.0.0.1), PORT (8000), DATA_DIR (./data), GRACE_MS (20000) and LOG_LEVEL (info).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'

const { HOST = '127.0.0.1', PORT = '8000', DATA_DIR = './data', GRACE_MS = '20000' } = process.env

const digest = (text) => createHash('sha256').update(text).digest()

const users = (process.env.API_TOKENS ?? '').split(',').flatMap((entry) => {
  const [user, token] = entry.split('=')
  return user && token ? [{ user, digest: digest(token) }] : []
})
if (users.length === 0) throw new Error('Set API_TOKENS, for example to ann=a-long-secret.')

/** Whose token the request has. Digests are of one length, and comparing them takes the same time whatever they are. */
function identify(request) {
  const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  const given = digest(token)
  const [found] = users.filter((one) => timingSafeEqual(one.digest, given))
  return found && { user: found.user }
}

const agent = defineAgent({ name: 'assistant', model: await modelFromEnv() })
const server = createServer({
  agents: [agent],
  store: await createSqliteStore({ path: join(DATA_DIR, 'threads.db') }),
  identify,
})
const { url } = await serve(server, { host: HOST, port: Number(PORT), graceMs: Number(GRACE_MS) })
console.log(`Serving at ${url}`)
