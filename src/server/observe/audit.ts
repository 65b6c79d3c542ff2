import { MillraceError, toWireError } from '../../core/errors.js'
import type { RunInput } from '../../protocol/index.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { Logger } from '../contract.js'
import { callHook, type HookContext } from '../hooks/call-hook.js'

/**
 * What a request has changed or answered, or that its user could not be identified. Has ids, codes and times, and nothing of
 * what was said.
 */
export type AuditEvent = AuditedRequest & {
  /** In milliseconds since 1970. */
  readonly at: number
  /** `refused`: the fault is in the request. `failed`: it is in the server. */
  readonly outcome: 'done' | 'refused' | 'failed'
  /** The code of the error, unless it is done. */
  readonly code?: string
}

/** A request that is audited, and the address it came from if that is known. */
export type AuditedRequest = (
  | (ThreadKey & { readonly action: 'delete' | 'label' | 'patch' })
  | (ThreadKey & { readonly action: 'cancel'; readonly runId?: string })
  | (ThreadKey & {
      readonly action: 'resume'
      readonly runId: string
      readonly answers: readonly AuditedAnswer[]
    })
  /** An operator has sent a request for another user. `user` is the operator. */
  | (Pick<ThreadKey, 'app' | 'user'> & {
      readonly action: 'act-as'
      readonly asUser: string
      readonly method: string
      readonly route: string
    })
  | (Pick<ThreadKey, 'app' | 'user' | 'agent'> & { readonly action: 'call-tool'; readonly tool: string })
  | { readonly action: 'identify'; readonly method: string; readonly route: string }
) & { readonly address?: string | undefined }

/** An answer to an interrupt, without its payload. */
export interface AuditedAnswer {
  readonly interruptId: string
  readonly status: RunInput['resume'][number]['status']
}

/** The audit of a server. Never throws, and nobody waits for it. */
export interface Audit {
  record(request: AuditedRequest, error?: unknown): void
  /** Records the request when its work is over. */
  during<T>(request: AuditedRequest, work: () => Promise<T>): Promise<T>
  /** Resolves when the hook has taken all events, or has failed to in its time. */
  settled(): Promise<void>
}

export function createAudit(server: HookContext & { readonly log: Logger }): Audit {
  const { hooks, clock, log } = server
  const pending = new Set<Promise<void>>()
  const record: Audit['record'] = (request, error) => {
    const event: AuditEvent = { ...request, at: clock.now(), ...outcomeOf(error) }
    log[event.outcome === 'done' ? 'info' : 'warn'](event, 'audit')
    if (!hooks.audit) return
    const call = async (): Promise<void> => callHook(server, 'audit', () => hooks.audit?.(event))
    // The request has been answered, or is about to be: nothing that the hook does changes that.
    const taken = call().catch((cause: unknown) =>
      log.error({ ...event, err: cause }, 'an audit event was not taken'),
    )
    pending.add(taken)
    void taken.finally(() => pending.delete(taken))
  }
  return {
    record,
    async during(request, work) {
      try {
        const result = await work()
        record(request)
        return result
      } catch (error) {
        record(request, error ?? new Error('unknown'))
        throw error
      }
    },
    async settled() {
      await Promise.all(pending)
    },
  }
}

function outcomeOf(error: unknown): Pick<AuditEvent, 'outcome' | 'code'> {
  if (error === undefined) return { outcome: 'done' }
  const isRefusal = MillraceError.isInstance(error) && error.status < 500
  return { outcome: isRefusal ? 'refused' : 'failed', code: toWireError(error, 'INTERNAL_ERROR').code }
}

/** The answers of a request as they are audited. */
export function auditedAnswers(resume: RunInput['resume']): AuditedAnswer[] {
  return resume.map(({ interruptId, status }) => ({ interruptId, status }))
}
