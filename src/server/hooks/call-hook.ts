import { MillraceError } from '../../core/errors.js'
import type { ServerContext } from '../context.js'
import type { Hooks } from './hooks.js'

/** The part of the server that calling a hook needs. */
export type HookContext = Pick<ServerContext, 'hooks' | 'clock' | 'limits' | 'metrics' | 'stream'> &
  Partial<Pick<ServerContext, 'board'>>

/**
 * Calls a hook, and checks its result, in `work`. An error is counted and becomes HOOK_ERROR, unless it has a code. So
 * does a promise that takes longer than `hookTimeoutMs`.
 */
export function callHook<T>(
  server: HookContext,
  name: keyof Hooks,
  work: () => T | Promise<T>,
): T | Promise<T> {
  return guardHook(server, name, work)(undefined)
}

/** The same for a hook that is called for every token: synchronous when the hook is, and without a closure per call. */
export function guardHook<Given, T>(
  server: HookContext,
  name: keyof Hooks,
  hook: (given: Given) => T | Promise<T>,
): (given: Given) => T | Promise<T> {
  return (given) => {
    try {
      const result = hook(given)
      return isPromise(result) ? guardPromise(server, name, result) : result
    } catch (error) {
      throw hookError(server, name, error)
    }
  }
}

/** Also for promises of other libraries, which `await` would wait for. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

async function guardPromise<T>(server: HookContext, name: keyof Hooks, result: Promise<T>): Promise<T> {
  try {
    return await withHookTimeout(server, name, result)
  } catch (error) {
    throw hookError(server, name, error)
  }
}

function withHookTimeout<T>(
  { clock, limits }: HookContext,
  name: keyof Hooks,
  result: Promise<T>,
): Promise<T> {
  const { hookTimeoutMs } = limits
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(hookTimeoutMs, () => {
      const message = `The hook '${name}' took longer than ${hookTimeoutMs} ms. \`limits.hookTimeoutMs\` gives it more.`
      reject(new MillraceError('HOOK_ERROR', message))
    })
    result.then(resolve, reject)
    result.then(cancel, cancel)
  })
}

function hookError({ metrics }: HookContext, name: keyof Hooks, error: unknown): MillraceError {
  metrics.hookFailed({ hook: name })
  if (MillraceError.isInstance(error)) return error
  return new MillraceError('HOOK_ERROR', `The hook '${name}' has failed.`, {
    cause: error,
    details: { hook: name },
  })
}
