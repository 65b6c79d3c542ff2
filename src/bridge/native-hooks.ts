import type { AgentEvent } from '../protocol/index.js'

/** Hooks of an application on the native events of a runtime. */
export interface NativeHooks {
  /** Replaces a native event: by none, one or several. */
  readonly change?: (event: unknown) => readonly unknown[] | Promise<readonly unknown[]>
  /** Translates a native event. Undefined leaves it to the runtime's translator. */
  readonly translate?: (event: unknown) => MaybeTranslated | Promise<MaybeTranslated>
}

type MaybeTranslated = readonly AgentEvent[] | undefined

/**
 * The AG-UI events of one native event: the `change` hook first, then the `translate` hook, or else the translator. Call
 * it only if there are hooks; a promise for every token is not free.
 */
export async function applyNativeHooks<E>(
  hooks: NativeHooks,
  event: E,
  translate: (event: E) => readonly AgentEvent[],
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = []
  for (const changed of (await hooks.change?.(event)) ?? [event]) {
    const own = await hooks.translate?.(changed)
    // A hook replaces native events by events of the same runtime.
    events.push(...(own ?? translate(changed as E)))
  }
  return events
}
