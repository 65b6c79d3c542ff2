/**
 * CopilotKit's front end and its server, with one command: `npm install && npm start`. There is no CopilotKit runtime between
 * them. Threads are in a file: they are still there when page or server start again.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { createServer as createVite } from 'vite'
import { concierge } from './concierge.mjs'

const folder = process.env.THREADS ?? join(import.meta.dirname, '.millrace')
mkdirSync(folder, { recursive: true })

const server = createServer({
  agents: [concierge],
  store: await createSqliteStore({ path: join(folder, 'threads.db') }),
  copilotKit: true,
})
const { url } = await serve(server, { port: 0 })

const vite = await createVite({
  root: import.meta.dirname,
  server: { port: Number(process.env.PORT ?? 5173), proxy: { '/copilotkit': url } },
})
await vite.listen()
console.log(`Open ${vite.resolvedUrls?.local[0] ?? ''}`)
