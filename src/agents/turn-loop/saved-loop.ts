import { MessageSchema, ResumeEntrySchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import { MillraceError } from '../../core/errors.js'
import { assertJson } from '../../core/json.js'
import { parseCheckpoint } from '../interrupts/checkpoint.js'
import type { TurnLoopState } from './loop-state.js'

/** A loop at rest, as plain JSON. */
export interface SavedTurnLoop extends Omit<TurnLoopState, 'checkpoint'> {
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

/** A copy that shares nothing with the loop. Throws ENCODING_ERROR, with the path, for values that JSON cannot hold. */
export function saveLoop(threadId: string, loopState: TurnLoopState): SavedTurnLoop {
  const { state, answers } = loopState
  assertJson(state, 'state')
  assertJson(answers, 'answers')
  return JSON.parse(JSON.stringify({ version: 1, threadId, ...loopState })) as SavedTurnLoop
}

/** Throws INVALID_CHECKPOINT for anything but a saved loop. */
export function parseSavedLoop(saved: unknown): {
  readonly threadId: string
  readonly loopState: TurnLoopState
} {
  const parsed = savedSchema.safeParse(saved)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = issue?.path.join('.') ?? ''
    throw new MillraceError(
      'INVALID_CHECKPOINT',
      `The saved turn loop is damaged at ${path === '' ? 'its root' : path}: ${issue?.message ?? ''}`,
    )
  }
  const { version: _version, threadId, checkpoint, ...rest } = parsed.data
  const loopState = {
    ...rest,
    checkpoint: checkpoint === undefined ? undefined : parseCheckpoint(checkpoint),
  }
  // The schema's type allows an explicit undefined where the protocol's has an absent field.
  return { threadId, loopState: loopState as TurnLoopState }
}
