import compression from 'compression'
import express from 'express'
import fastify from 'fastify'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Server } from '../../src/server/index.js'
import { createListener } from '../../src/server/node.js'

/** A way to put a server into an application of somebody's own, under `/ai`. */
export interface Mount {
  readonly name: string
  /** Whether the framework takes the prefix away, so that the server needs no `basePath`. */
  readonly stripsPrefix: boolean
  /** Returns the URL of the application. It is closed when the test ends. */
  start(server: Server): Promise<string>
}

export const prefix = '/ai'

/** Listens on a free port until the test ends. */
export async function listen(listener: RequestListener): Promise<string> {
  const http = createHttpServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  onTestFinished(() => {
    http.close().closeAllConnections()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

function withExpress(name: string, ...before: express.RequestHandler[]): Mount {
  return {
    ...{ name, stripsPrefix: true },
    start(server) {
      const app = express()
      app.use((_request, response, next) => {
        response.setHeader('x-application', 'mine')
        next()
      })
      if (before.length > 0) app.use(...before)
      return listen(app.use(prefix, createListener(server)))
    },
  }
}

function withHono(name: string, attach: (app: Hono, server: Server) => void, stripsPrefix: boolean): Mount {
  return {
    ...{ name, stripsPrefix },
    start(server) {
      const app = new Hono()
      app.use(async (c, next) => {
        await next()
        c.header('x-application', 'mine')
      })
      app.use(compress())
      attach(app, server)
      const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
      return listen((request, response) => void listener(request, response))
    },
  }
}

const bare: Mount = {
  ...{ name: 'node:http', stripsPrefix: false },
  start(server) {
    const listener = createListener(server)
    return listen((request, response) => {
      response.setHeader('x-application', 'mine')
      listener(request, response)
    })
  },
}

/** The application reads the body itself, as text. */
const bareAfterReading: Mount = {
  ...{ name: 'node:http after it has read the body', stripsPrefix: false },
  start(server) {
    const listener = createListener(server)
    return listen((request, response) => {
      response.setHeader('x-application', 'mine')
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      request.on('end', () => listener(Object.assign(request, { body }), response))
    })
  },
}

const withFastify: Mount = {
  ...{ name: 'Fastify', stripsPrefix: false },
  async start(server) {
    const app = fastify()
    const listener = createListener(server)
    app.all(`${prefix}/*`, (request, reply) => {
      reply.hijack()
      reply.raw.setHeader('x-application', 'mine')
      listener(Object.assign(request.raw, { body: request.body }), reply.raw)
    })
    onTestFinished(async () => {
      app.server.closeAllConnections()
      await app.close()
    })
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
}

export const mounts: readonly Mount[] = [
  bare,
  bareAfterReading,
  withExpress('Express'),
  withExpress('Express after express.json()', express.json()),
  withExpress('Express after express.text()', express.text({ type: '*/*' })),
  withExpress('Express after express.raw()', express.raw({ type: '*/*' })),
  withExpress(
    'Express after compression() and express.json()',
    compression({ threshold: 0 }),
    express.json(),
  ),
  withFastify,
  withHono(
    'Hono with a route',
    (app, server) => app.all(`${prefix}/*`, (c) => server.fetch(c.req.raw)),
    false,
  ),
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- people use it
  withHono('Hono with mount', (app, server) => app.mount(prefix, server.fetch), true),
]
