import type { EventEdit } from '../../agents/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Replaced } from './hooks.js'
import { isPromise } from './call-hook.js'

/** What stands in the place of an event. */
export type EventHook = (event: AgentEvent) => Replaced<AgentEvent> | Promise<Replaced<AgentEvent>>

/** The hooks as one: each is called with every event that the one before it gave. At once, as long as each gives one. */
export function hookedEvents(hooks: readonly EventHook[]): EventEdit {
  return (event) => {
    let current = event
    let next = 0
    for (const hook of hooks) {
      const given = hook(current)
      next++
      if (!isOne(given)) return allOf(given, hooks.slice(next))
      current = given
    }
    return current
  }
}

/** One after the other: nothing is asked about an event before those in front of it are on their way. */
async function* allOf(
  given: ReturnType<EventHook>,
  [hook, ...others]: readonly EventHook[],
): AsyncGenerator<AgentEvent, void> {
  for (const event of toList(await given)) {
    if (hook) yield* allOf(hook(event), others)
    else yield event
  }
}

function isOne(given: ReturnType<EventHook>): given is AgentEvent {
  return given !== undefined && !isPromise(given) && 'type' in given
}

function toList(value: Replaced<AgentEvent>): readonly AgentEvent[] {
  if (value === undefined) return []
  return 'type' in value ? [value] : value
}
