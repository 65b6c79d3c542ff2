import { MillraceError } from '../../core/errors.js'
import type { ServerContext } from '../context.js'
import type { Hooks } from '../hooks.js'

/**
 * Waits for what a hook does, and for what is made of it. What that throws is counted and becomes HOOK_ERROR, unless it
 * has a code already.
 */
export async function callHook<T>(
  { metrics }: Pick<ServerContext, 'metrics'>,
  name: keyof Hooks,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    metrics.hookFailed({ hook: name })
    throw hookError(name, error)
  }
}

function hookError(name: keyof Hooks, error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  return new MillraceError('HOOK_ERROR', `The hook '${name}' has failed.`, {
    cause: error,
    details: { hook: name },
  })
}
