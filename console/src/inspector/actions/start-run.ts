import type { Message } from '@ag-ui/core'
import { go } from '../../router.js'
import type { Api } from '../../session/api.js'
import { startForeignRun } from '../source/foreign-run.js'
import type { RunRecord } from '../source/run-record.js'
import { keepRun } from '../source/use-run.js'

interface NewRun {
  readonly record: RunRecord
  readonly agent: string
  readonly messages: readonly Message[]
  readonly state: unknown
}

/**
 * Runs a copy of a conversation in a thread of its own: of this server, and opens it in the chat; or where the run came from, and
 * opens it here. Rejects with an error that can be shown.
 */
export async function startRun(api: Api, { record, agent, messages, state }: NewRun): Promise<void> {
  const { input } = record.head
  const threadId = crypto.randomUUID()
  const runId = crypto.randomUUID()
  const body = { tools: [], context: [], ...input, threadId, runId, messages, state }
  delete (body as { resume?: unknown }).resume
  if (record.request) {
    startElsewhere(api, record.request, body)
    return
  }
  const response = await api.fetch(`/agents/${encodeURIComponent(agent)}/run`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      // The chat follows the run from now on.
      'millrace-reconnects': 'true',
    },
    body: JSON.stringify({ ...body, protocolVersion: '1.1' }),
  })
  if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 500)}`)
  // A run is on its way when its first bytes are here.
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  go({ page: 'chat', agent, threadId })
}

/** Sends a request to another server, and opens what it answers. */
export function startElsewhere(
  api: Api,
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  input: Record<string, unknown>,
): void {
  const source = `url:${url}#${String(input.runId)}`
  const record = startForeignRun({ url, headers, input }, { source, isAllowed: api.session.foreign })
  keepRun(record)
  go({ page: 'inspect', source })
}
