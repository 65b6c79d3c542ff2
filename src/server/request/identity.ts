import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import type { Identity, Limits, ServerOptions } from '../contract.js'
import { checkId } from './check-input.js'

/** Who asks, or a refusal: FORBIDDEN_HOST or UNAUTHENTICATED. */
export type Identify = (request: Request) => Promise<Required<Identity>>

const defaultApp = 'default'

/**
 * Without a function of the team's own everybody is one local user. Then only requests that name this machine are
 * served: a page elsewhere cannot reach it by giving its own name to our address.
 */
export function createIdentify(identify: ServerOptions['identify'], limits: Limits): Identify {
  return async function identified(request) {
    if (!identify) {
      checkHost(request)
      return { app: defaultApp, user: 'local' }
    }
    const identity = await identify(request)
    if (!identity)
      throw new MillraceError('UNAUTHENTICATED', 'Say who you are: the server does not know you.')
    const { app, user } = textsOf(identity)
    return { app: checkId(app, 'app', limits), user: checkId(user, 'user', limits) }
  }
}

/** Throws when it is none: whoever asks can do nothing about that. What the texts say may come from the request. */
function textsOf(given: unknown): Required<Identity> {
  const { app = defaultApp, user } = isRecord(given) ? given : {}
  if (typeof app === 'string' && typeof user === 'string') return { app, user }
  const message =
    'What `identify` gives must be undefined, or have a `user`, and maybe an `app`, that are strings.'
  throw new MillraceError('INTERNAL_ERROR', message)
}

/** Throws FORBIDDEN_HOST unless the request names this machine. */
export function checkHost(request: Request): void {
  const host = request.headers.get('host') ?? new URL(request.url).host
  if (isLoopbackHost(host)) return
  const message = 'Only this machine is served. Give the server an `identify` function to serve others.'
  throw new MillraceError('FORBIDDEN_HOST', message)
}

const octet = String.raw`(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])`
const name = String.raw`(?:[a-z\d_-]+\.)*localhost\.?`
const address = String.raw`127(?:\.${octet}){3}\.?|\[::1\]`
const loopback = new RegExp(String.raw`^(?:${name}|${address})(?::\d{0,5})?$`, 'i')

/**
 * Whether a `Host` header, or a host name, can only mean this machine: `localhost` and names below it, 127.0.0.0/8 in
 * its usual form, and `::1`. With a server that only serves these, no foreign name that resolves to this machine gets
 * a browser to talk to it.
 */
export function isLoopbackHost(host: string | null | undefined): boolean {
  if (host === null || host === undefined) return false
  return host === '::1' || loopback.test(host)
}
