import { Buffer } from 'node:buffer'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { URL } from 'node:url'
import { parseArgs } from 'node:util'

export const help = `Serves the demo agents and a console to talk to them, approve, and look inside.

  npm start                      on http://127.0.0.1:4111; builds first if something has changed
  npm start -- --curl            prints lines for curl in place of what to try in the browser
  npm start -- --port 8000       on another port; 0 takes any that is free
  npm start -- --host 0.0.0.0    for other machines too; requests then need the token that is printed
  npm start -- --cors http://localhost:3000
                                 for the pages of that origin; more with commas, or with --cors again; '*' for all
  npm start -- --help            this text

  PORT             the port, when --port does not say it
  MILLRACE_TOKEN   the token that requests need, on any host; default: a new one for each start on a --host
  MILLRACE_DIR     the folder for threads.db and graph.db; default .millrace
  MILLRACE_MODEL   a model, openai/gpt-5-mini for example, or demo
  LOG_LEVEL        what is logged; default warn`

/** The options of `npm start`, from its arguments and the environment. Undefined asks for help. */
export function startOptions(env) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      cors: { type: 'string', multiple: true, default: [] },
      curl: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return undefined
  const { host, curl } = values
  return {
    host,
    curl,
    port: portOf(values.port ?? env.PORT),
    origins: originsOf(values.cors),
    token: env.MILLRACE_TOKEN || (isLoopback(host) ? undefined : randomBytes(16).toString('hex')),
  }
}

/** The address at which this machine reaches a server that listens on all of its own. */
export function localUrl(url) {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** Whoever has the token is the one user of the demo. Without a token, `createServer` serves this machine only. */
export function identifyByToken(token) {
  if (token === undefined) return {}
  const expected = Buffer.from(`Bearer ${token}`)
  return {
    identify(request) {
      const given = Buffer.from(request.headers.get('authorization') ?? '')
      const isRight = given.length === expected.length && timingSafeEqual(given, expected)
      return isRight ? { user: 'local', isOperator: true } : undefined
    },
  }
}

function isLoopback(host) {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)
}

function originsOf(lists) {
  const origins = lists.flatMap((list) => list.split(',')).map((origin) => origin.trim())
  if (origins.includes('*')) return '*'
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new Error(`'${origin}' is no origin: http://localhost:3000 for example is one.`)
  return origins
}

function portOf(text) {
  if (text === undefined || text === '') return 4111
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port <= 65_535) return port
  throw new Error(`'${text}' is no port: a number from 0 to 65535 is expected.`)
}
