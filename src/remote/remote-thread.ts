import { createHash } from 'node:crypto'
import type { RunContext } from '../agents/index.js'
import type { FromAgUiOptions } from './options.js'

/**
 * The thread of the agent for this place. The same in every run of our thread, and never that of another place: two
 * conversations in one thread would be read as one.
 */
export async function remoteThreadId(ctx: RunContext, given: FromAgUiOptions['threadId']): Promise<string> {
  const { app, user, threadId } = ctx
  const { address, subagentRunId } = ctx.span
  const root = given ? await given({ app, user, threadId }) : ownThreadId(ctx)
  return subagentRunId === undefined ? root : derivedId([root, address])
}

/** Ids are the clients' choice. Where there are several users, one must not reach the thread of another by its id. */
function ownThreadId({ app, user, threadId }: RunContext): string {
  return app === 'default' && user === 'local' ? threadId : derivedId([app, user, threadId])
}

/** In the form of a UUID, since some servers take no other. */
function derivedId(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16)
  // Version 8: one of the application's own making.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
