import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Identity, Limits, ServerOptions } from '../contract.js'
import { isPromise } from '../hooks/call-hook.js'
import { checkId } from './check-input.js'

/** Returns the user of a request. Throws FORBIDDEN_HOST, UNAUTHENTICATED or IDENTIFY_TIMEOUT. */
export type Identify = (request: Request) => Promise<Required<Identity>>

const defaultApp = 'default'

/**
 * Without an `identify` of the application, all requests belong to one local user, and only those that name this machine
 * are served.
 */
export function createIdentify(
  identify: ServerOptions['identify'],
  { limits, clock }: { readonly limits: Limits; readonly clock: Clock },
): Identify {
  return async function identifyUser(request) {
    if (!identify) {
      checkHost(request)
      return { app: defaultApp, user: 'local', claims: {}, isOperator: true }
    }
    const identity = await inTime(identify(request), limits, clock)
    if (!identity)
      throw new MillraceError('UNAUTHENTICATED', 'Say who you are: the server does not know you.')
    const { app, user, claims, isOperator } = checkIdentity(identity)
    // The texts may come from the request.
    return { app: checkId(app, 'app', limits), user: checkId(user, 'user', limits), claims, isOperator }
  }
}

/** Throws IDENTIFY_TIMEOUT. Whatever comes later is ignored. */
function inTime<T>(result: T | Promise<T>, { identifyTimeoutMs }: Limits, clock: Clock): T | Promise<T> {
  if (!isPromise(result)) return result
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(identifyTimeoutMs, () => {
      const message = `The server could not find out who you are within ${identifyTimeoutMs} ms. Try again in a moment.`
      reject(new MillraceError('IDENTIFY_TIMEOUT', message))
    })
    result.then(resolve, reject)
    result.then(cancel, cancel)
  })
}

/** Throws INTERNAL_ERROR: the client can do nothing about a faulty `identify`. */
function checkIdentity(identity: unknown): Required<Identity> {
  const { app = defaultApp, user, claims = {}, isOperator = false } = isRecord(identity) ? identity : {}
  if (
    typeof app === 'string' &&
    typeof user === 'string' &&
    isRecord(claims) &&
    typeof isOperator === 'boolean'
  )
    return { app, user, claims, isOperator }
  const message =
    '`identify` must return undefined, or an object with `user`, maybe `app`, both strings, and maybe `claims`, an object, and `isOperator`, true or false.'
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
 * Returns true for a `Host` header or host name that can only mean this machine: `localhost` and names below it, 127.0.0.0/8
 * in its usual form, and `::1`. This stops DNS rebinding: a browser cannot be led here under another site's name.
 */
export function isLoopbackHost(host: string | null | undefined): boolean {
  if (host === null || host === undefined) return false
  return host === '::1' || loopback.test(host)
}
