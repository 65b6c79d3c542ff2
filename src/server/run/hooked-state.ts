import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import { callHook } from './call-hook.js'

/** The visible state as a whole, as the hook wants it shown. Undefined for no snapshot. */
export function hookedState(
  server: Pick<ServerContext, 'hooks' | 'metrics'>,
  visible: unknown,
  info: RunInfo,
): unknown {
  const { stateSnapshot } = server.hooks
  return stateSnapshot ? callHook(server, 'stateSnapshot', () => stateSnapshot(visible, info)) : visible
}
