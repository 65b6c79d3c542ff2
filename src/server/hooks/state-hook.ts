import type { AgentEvent } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from './hooks.js'
import { callHook, type HookContext } from './call-hook.js'

/** The visible state as a whole, as the hook wants it shown. Undefined for no snapshot. */
export function hookedState(
  server: HookContext & Pick<ServerContext, 'hooks'>,
  visible: unknown,
  info: RunInfo,
): unknown {
  const { stateSnapshot } = server.hooks
  return stateSnapshot ? callHook(server, 'stateSnapshot', () => stateSnapshot(visible, info)) : visible
}

/** What brings a client up to date, as clients may see it: without what is private, the state as the hook wants it. */
export async function shownOpening(
  server: HookContext & Pick<ServerContext, 'hooks' | 'stateRules'>,
  opening: readonly AgentEvent[],
  info: RunInfo,
): Promise<readonly AgentEvent[]> {
  const shown: AgentEvent[] = []
  for (const event of opening) {
    if (event.type !== 'STATE_SNAPSHOT') shown.push(event)
    else {
      const snapshot = await hookedState(server, server.stateRules.visible(event.snapshot), info)
      if (snapshot !== undefined) shown.push({ ...event, snapshot })
    }
  }
  return shown
}
