import { InMemorySessionService, type BaseSessionService } from '@google/adk'
import type { RunContext } from '../../agents/index.js'
import { stableHash } from '../../core/hash.js'
import type { SessionKey } from '../adk-types.js'

/** Where a run finds its session. */
export interface SessionPlace {
  readonly service: BaseSessionService
  readonly key: SessionKey
}

const services = new WeakMap<object, BaseSessionService>()

/**
 * The session of an agent that runs below another one. It has a conversation of its own, which is not the thread's, so
 * its session lasts as long as the run: the one above tells it all it has to know, and what it has asked is saved there.
 */
export function sessionBelow(
  ctx: RunContext,
  { appName, userId }: Omit<SessionKey, 'sessionId'>,
): SessionPlace {
  // The one object that all agents of a run share.
  const service = services.get(ctx.values) ?? new InMemorySessionService()
  services.set(ctx.values, service)
  return { service, key: { appName, userId, sessionId: `${ctx.threadId}.${stableHash(ctx.span.address)}` } }
}
