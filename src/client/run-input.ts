import { isRecord } from '../core/json.js'
import { offeredTools } from './client-tools.js'
import type { ThreadOptions } from './contract.js'
import type { QueuedRequest } from './queued-request.js'
import type { ThreadView } from './thread-view.js'

/** The version of AG-UI that this client speaks. */
export const protocolVersion = '1.1'

/** The body of a run request. */
export function toRunInput(
  { runId, messages, resume }: QueuedRequest,
  {
    options: { tools = {}, context, forwardedProps },
    threadId,
    view,
  }: { readonly options: ThreadOptions; readonly threadId: string; readonly view: ThreadView },
): object {
  const { state } = view.content.snapshot()
  // The server keeps the state. Only a thread that it does not know has one of its own.
  const hasOwnState = view.version === 0 && isRecord(state) && Object.keys(state).length > 0
  return {
    ...{ threadId, runId, protocolVersion, messages, tools: offeredTools(tools) },
    context: context?.() ?? [],
    ...(resume.length > 0 ? { resume } : {}),
    ...(hasOwnState ? { state } : {}),
    ...(forwardedProps ? { forwardedProps: forwardedProps() } : {}),
  }
}
