import type { Thread } from 'millrace/client'
import type { Api } from '../session/api.js'
import type { SurfaceAction } from './chat-context.js'

/**
 * Runs the agent with what a person did on a surface. The run has no message of its own, so it is started beside the thread, which
 * follows it as a run of another tab. Returns what went wrong.
 */
export async function sendSurfaceAction(
  api: Api,
  thread: Thread,
  userAction: SurfaceAction,
): Promise<string | undefined> {
  const { agent, threadId } = thread
  // The messages say that this page is in step: a thread that comes as a whole would move surfaces to its top.
  const messages = thread.getSnapshot().messages.filter(({ role }) => role !== 'activity')
  const response = await api.fetch(`/agents/${encodeURIComponent(agent)}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'millrace-reconnects': 'true' },
    body: JSON.stringify({
      ...{
        threadId,
        runId: crypto.randomUUID(),
        protocolVersion: '1.0',
        messages,
        tools: [],
        context: [],
      },
      forwardedProps: { a2uiAction: { userAction } },
    }),
  })
  if (response.ok) {
    // The thread's own stream shows the run.
    await response.body?.cancel()
    return undefined
  }
  const body = (await response.json().catch(() => ({}))) as { readonly error?: { readonly message?: string } }
  return body.error?.message ?? `The server answered ${response.status}.`
}
