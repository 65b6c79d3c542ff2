import { MillraceError } from '../../core/errors.js'
import type { Hooks } from '../hooks.js'

/** Waits for what a hook does. What it throws becomes HOOK_ERROR, unless it has a code already. */
export async function callHook<T>(name: keyof Hooks, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw hookError(name, error)
  }
}

export function hookError(name: keyof Hooks, error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  return new MillraceError('HOOK_ERROR', `The hook '${name}' has failed.`, {
    cause: error,
    details: { hook: name },
  })
}
