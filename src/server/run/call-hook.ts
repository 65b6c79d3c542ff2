import { MillraceError } from '../../core/errors.js'
import type { ServerContext } from '../context.js'
import type { Hooks } from '../hooks.js'

/**
 * What a hook does, and what is made of it. What that throws is counted and becomes HOOK_ERROR, unless it has a code
 * already.
 */
export function callHook<T>(
  server: Pick<ServerContext, 'metrics'>,
  name: keyof Hooks,
  work: () => T | Promise<T>,
): T | Promise<T> {
  return guarded(server, name, work)(undefined)
}

/** The same for a hook that is called for every token: at once when it is not async, and with nothing made for a call. */
export function guarded<Given, T>(
  server: Pick<ServerContext, 'metrics'>,
  name: keyof Hooks,
  hook: (given: Given) => T | Promise<T>,
): (given: Given) => T | Promise<T> {
  return (given) => {
    try {
      const answer = hook(given)
      return isPromise(answer) ? settled(server, name, answer) : answer
    } catch (error) {
      throw failed(server, name, error)
    }
  }
}

async function settled<T>(
  server: Pick<ServerContext, 'metrics'>,
  name: keyof Hooks,
  given: Promise<T>,
): Promise<T> {
  try {
    return await given
  } catch (error) {
    throw failed(server, name, error)
  }
}

/** Also for promises of other libraries, which `await` would wait for. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

function failed(
  { metrics }: Pick<ServerContext, 'metrics'>,
  name: keyof Hooks,
  error: unknown,
): MillraceError {
  metrics.hookFailed({ hook: name })
  if (MillraceError.isInstance(error)) return error
  return new MillraceError('HOOK_ERROR', `The hook '${name}' has failed.`, {
    cause: error,
    details: { hook: name },
  })
}
