import { MillraceError } from '../../core/errors.js'
import type { ConsoleOptions } from '../contract.js'
import { createStaticFiles, fileResponse, type StaticFiles } from './static-files.js'

/** What the option `console` means. Undefined: there is none. */
export type ConsoleSettings = Required<ConsoleOptions> | undefined

export function consoleSettings(option: boolean | ConsoleOptions | undefined): ConsoleSettings {
  if (option === undefined || option === false) return undefined
  const { path = '/console', foreign = false, toolCalls = false } = option === true ? {} : option
  return { path, foreign, toolCalls }
}

/** Answers requests for the console's page. It holds no data, so it is public; the api below it is not. */
export interface ConsolePage {
  /** The file at a path of a request. Throws NOT_FOUND. */
  file(request: Request): Promise<Response>
  /** Leads a browser that opens the root of the server to the console. */
  redirect(request: Request): Response
}

interface ConsolePageOptions extends Required<Pick<ConsoleOptions, 'path' | 'foreign'>> {
  readonly basePath: string
  readonly files?: StaticFiles
}

export function createConsolePage({
  path,
  foreign,
  basePath,
  files = createStaticFiles(),
}: ConsolePageOptions): ConsolePage {
  const headers = pageHeaders(foreign)
  const root = basePath + path
  return {
    async file(request) {
      const { pathname } = new URL(request.url)
      if (pathname === root) return redirectTo(`${lastSegment(root)}/`)
      const name = pathname.slice(root.length + 1)
      const found = await files.find(name === '' ? 'index.html' : name).catch(() => 'unreadable' as const)
      if (found === 'unreadable') return notBuilt(headers)
      if (!found) throw new MillraceError('NOT_FOUND', 'The console has no such file.')
      const cache = found.isHashed ? 'public, max-age=31536000, immutable' : 'no-store'
      return fileResponse(found, request, { ...headers, 'cache-control': cache })
    },
    redirect(request) {
      const { pathname } = new URL(request.url)
      const below = `${path.slice(1)}/`
      return redirectTo(pathname.endsWith('/') ? below : `${lastSegment(basePath)}/${below}`)
    },
  }
}

/** Relative: the server may stand below a path that it does not know. */
function redirectTo(location: string): Response {
  return new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store' } })
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function notBuilt(headers: Readonly<Record<string, string>>): Response {
  const text = 'The files of the console are not there. Build them: run `npm run build`.\n'
  return new Response(text, {
    status: 503,
    headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  })
}

/** Only what the page itself brings may run in it, and only this server hears from it, unless foreign endpoints may be opened. */
function pageHeaders(foreign: boolean): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${foreign ? ' http: https:' : ''}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  }
}
