/**
 * A page with assistant-ui, and its server, with one command: `npm install && npm start`. Threads are in a file: they are
 * still there when page or server start again.
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

const store = await createSqliteStore({ path: join(folder, 'threads.db') })
const { url } = await serve(createServer({ agents: [concierge], store }), { port: 0 })

const vite = await createVite({
  root: import.meta.dirname,
  // The package is linked from the repository, which has a React of its own. There must be one.
  resolve: { dedupe: ['react'] },
  server: { port: Number(process.env.PORT ?? 5173), proxy: { '/agents': url } },
})
await vite.listen()
console.log(`Open ${vite.resolvedUrls?.local[0] ?? ''}`)
