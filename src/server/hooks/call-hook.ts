import { MillraceError } from '../../core/errors.js'
import type { ServerContext } from '../context.js'
import type { Hooks } from './hooks.js'

/** What of the server has to do with calling hooks. */
export type HookContext = Pick<ServerContext, 'clock' | 'limits' | 'metrics'>

/**
 * What a hook does, and what is made of it. What that throws is counted and becomes HOOK_ERROR, unless it has a code
 * already. So does an answer that does not come in time.
 */
export function callHook<T>(
  server: HookContext,
  name: keyof Hooks,
  work: () => T | Promise<T>,
): T | Promise<T> {
  return guarded(server, name, work)(undefined)
}

/** The same for a hook that is called for every token: at once when it is not async, and with nothing made for a call. */
export function guarded<Given, T>(
  server: HookContext,
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

async function settled<T>(server: HookContext, name: keyof Hooks, given: Promise<T>): Promise<T> {
  try {
    return await inTime(server, name, given)
  } catch (error) {
    throw failed(server, name, error)
  }
}

function inTime<T>({ clock, limits }: HookContext, name: keyof Hooks, given: Promise<T>): Promise<T> {
  const { hookTimeoutMs } = limits
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(hookTimeoutMs, () => {
      const message = `The hook '${name}' took longer than ${hookTimeoutMs} ms. \`limits.hookTimeoutMs\` gives it more.`
      reject(new MillraceError('HOOK_ERROR', message))
    })
    given.then(resolve, reject)
    given.then(cancel, cancel)
  })
}

/** Also for promises of other libraries, which `await` would wait for. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

function failed({ metrics }: HookContext, name: keyof Hooks, error: unknown): MillraceError {
  metrics.hookFailed({ hook: name })
  if (MillraceError.isInstance(error)) return error
  return new MillraceError('HOOK_ERROR', `The hook '${name}' has failed.`, {
    cause: error,
    details: { hook: name },
  })
}
