import { useState } from 'react'
import { asUserHeader } from '../session/as-user.js'
import type { RunSummary } from '../session/contract.js'
import { useApi } from '../session/use-api.js'

/** Cancels runs, those of others for operators. What becomes of the run comes with the list. */
export function useCancelRun(): {
  readonly cancel: (run: RunSummary) => void
  readonly problem: string | undefined
} {
  const api = useApi()
  const [problem, setProblem] = useState<string>()
  const cancel = async ({ agent, user, threadId, runId }: RunSummary): Promise<void> => {
    setProblem(undefined)
    const isOwn = user === api.session.user
    const response = await api.fetch(`/agents/${encodeURIComponent(agent)}/cancel`, {
      method: 'POST',
      body: JSON.stringify({ threadId, runId }),
      headers: { 'content-type': 'application/json', ...asUserHeader(isOwn ? undefined : user) },
    })
    if (response.ok) return
    const body = (await response.json().catch(() => ({}))) as {
      readonly error?: { readonly code?: string; readonly message?: string }
    }
    // It ended by itself meanwhile.
    if (body.error?.code === 'RUN_NOT_FOUND') return
    setProblem(body.error?.message ?? String(response.status))
  }
  return {
    cancel: (run) => void cancel(run).catch((error: unknown) => setProblem(String(error))),
    problem,
  }
}
