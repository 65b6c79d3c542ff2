import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/is-record.js'
import { checkId } from './check-input.js'
import { isLoopbackHost } from './host-check.js'
import type { Limits } from './limits.js'
import type { Identity, ServerOptions } from './options.js'

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
