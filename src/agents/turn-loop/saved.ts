import { MessageSchema, ResumeEntrySchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import { MillraceError } from '../../core/errors.js'
import { assertJson } from '../../core/json.js'
import { parseCheckpoint } from '../interrupts/checkpoint.js'
import type { Held } from './held.js'

/** A loop at rest: plain JSON, and all that is needed to go on in another process. */
export interface SavedTurnLoop extends Omit<Held, 'checkpoint'> {
  readonly version: 1
  readonly threadId: string
  readonly checkpoint?: unknown
}

const savedSchema = z.object({
  version: z.literal(1),
  threadId: z.string(),
  messages: z.array(MessageSchema),
  state: z.unknown(),
  queue: z.array(MessageSchema),
  answers: z.array(ResumeEntrySchema),
  checkpoint: z.unknown().optional(),
  pendingToolCallIds: z.array(z.string()),
  isCutOff: z.boolean(),
})

/** A copy that shares nothing with the loop. Throws ENCODING_ERROR, with the path, for what would not survive. */
export function sealLoop(threadId: string, held: Held): SavedTurnLoop {
  const { state, answers } = held
  assertJson(state, 'state')
  assertJson(answers, 'answers')
  return JSON.parse(JSON.stringify({ version: 1, threadId, ...held })) as SavedTurnLoop
}

/** Reads a saved loop that may come from anywhere. Throws INVALID_CHECKPOINT when it is none. */
export function parseLoop(saved: unknown): { readonly threadId: string; readonly held: Held } {
  const parsed = savedSchema.safeParse(saved)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const place = issue?.path.join('.') ?? ''
    throw new MillraceError(
      'INVALID_CHECKPOINT',
      `The saved turn loop is damaged at ${place === '' ? 'its root' : place}: ${issue?.message ?? ''}`,
    )
  }
  const { version: _version, threadId, checkpoint, ...rest } = parsed.data
  const held = {
    ...rest,
    checkpoint: checkpoint === undefined ? undefined : parseCheckpoint(checkpoint),
  }
  // The schema's type allows an explicit undefined where the protocol's has an absent field.
  return { threadId, held: held as Held }
}
