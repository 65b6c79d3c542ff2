import type { Message } from '@ag-ui/core'
import { InterruptSchema, MessageSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import { MillraceError } from '../../core/errors.js'
import { assertJson } from '../../core/json.js'
import type { Agent, Answer, Frames, OpenInterrupt, Suspension } from '../contract.js'
import { isInterruptFrame, withAnswers } from './interrupt-frame.js'

/** A run at rest: plain, readable JSON with all that is needed to resume it in another process. */
export interface Checkpoint {
  readonly version: 1
  readonly threadId: string
  /** The run that was interrupted first. Interrupt ids are derived from it. */
  readonly runId: string
  /** The agents it was saved with. */
  readonly agents: unknown
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly values: Readonly<Record<string, unknown>>
  /** Empty when the run is over, was stopped or waits for the client. */
  readonly openInterrupts: readonly OpenInterrupt[]
  readonly frames: Frames
  /** Ids of interrupts that were answered before: answering one again does nothing. */
  readonly answered: readonly string[]
  /** Calls that are left to the client. The agents continue with their results. */
  readonly pendingToolCallIds?: readonly string[]
}

const checkpointSchema = z.object({
  version: z.literal(1),
  threadId: z.string(),
  runId: z.string(),
  agents: z.unknown(),
  messages: z.array(MessageSchema),
  state: z.unknown(),
  values: z.record(z.string(), z.unknown()),
  openInterrupts: z.array(z.object({ interrupt: InterruptSchema, address: z.string() })),
  frames: z.record(z.string(), z.unknown()),
  answered: z.array(z.string()),
  pendingToolCallIds: z.array(z.string()).optional(),
})

const currentVersion = 1

/** Reads older checkpoints: the entry of version n makes version n + 1. */
type Migrations = Readonly<Record<number, (old: Record<string, unknown>) => Record<string, unknown>>>

/**
 * Parses a checkpoint from anywhere into a copy. Throws INVALID_CHECKPOINT when it is none, or of a newer version. Only
 * tests pass `migrations`.
 */
export function parseCheckpoint(value: unknown, migrations: Migrations = {}): Checkpoint {
  let current = value
  for (;;) {
    const version = isObject(current) ? current.version : undefined
    if (version === currentVersion) break
    const migrate = typeof version === 'number' ? migrations[version] : undefined
    if (!migrate) {
      const found = typeof version === 'number' ? `of version ${version}` : 'not a checkpoint'
      throw invalidCheckpoint(`The saved run is ${found}; this is version ${currentVersion}.`)
    }
    current = migrate(current as Record<string, unknown>)
  }
  const parsed = checkpointSchema.safeParse(current)
  // The schema's type allows an explicit undefined where the protocol's has an absent field.
  if (parsed.success) return copyOf(parsed.data as Checkpoint)
  const [issue] = parsed.error.issues
  throw invalidCheckpoint(
    `The saved run is damaged at ${issue?.path.join('.') ?? 'its root'}: ${issue?.message ?? ''}`,
  )
}

/** A copy that shares nothing with the run. Throws ENCODING_ERROR, with the path, for a value that is not JSON. */
export function sealCheckpoint(checkpoint: Checkpoint): Checkpoint {
  const { frames, values, state, openInterrupts, agents } = checkpoint
  assertJson(frames, 'frames')
  assertJson(values, 'values')
  assertJson(state, 'state')
  assertJson(openInterrupts, 'interrupts')
  assertJson(agents, 'agents')
  return copyOf(checkpoint)
}

export interface SuspendedThread extends Suspension {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly Message[]
  readonly state: unknown
}

/** A checkpoint of a thread that the agent's own runtime remembers as interrupted. */
export function checkpointOf(agent: Agent, thread: SuspendedThread): Checkpoint {
  return sealCheckpoint({ ...thread, version: 1, agents: agentTree(agent), values: {}, answered: [] })
}

/**
 * Removes interrupts that are settled: answered, and their tool call has its result, or their frame has the answer. An
 * agent of a foreign runtime interrupts for several calls at once, so its frame keeps the answers until it has all of them.
 */
export function withoutSettled(
  checkpoint: Checkpoint,
  answers: ReadonlyMap<string, Answer>,
  messages: readonly Message[],
): Checkpoint {
  const results = new Set(messages.map((one) => (one.role === 'tool' ? one.toolCallId : undefined)))
  const isSettled = ({ interrupt: { id, toolCallId }, address }: OpenInterrupt): boolean => {
    const frame = checkpoint.frames[address]
    if (isInterruptFrame(frame) && id in frame.answers) return true
    return toolCallId !== undefined && results.has(toolCallId) && answers.has(id)
  }
  const settled = checkpoint.openInterrupts.filter(isSettled)
  const used = new Map([...answers].filter(([id]) => settled.some(({ interrupt }) => interrupt.id === id)))
  const frames = settled.flatMap(({ address }) => {
    const frame = checkpoint.frames[address]
    return isInterruptFrame(frame) ? [[address, withAnswers(frame, used)] as const] : []
  })
  return {
    ...checkpoint,
    openInterrupts: checkpoint.openInterrupts.filter((open) => !isSettled(open)),
    frames: { ...checkpoint.frames, ...Object.fromEntries(frames) },
    answered: [...checkpoint.answered, ...used.keys()],
  }
}

function copyOf(checkpoint: Checkpoint): Checkpoint {
  return JSON.parse(JSON.stringify(checkpoint)) as Checkpoint
}

/** The shape of the agents, which a checkpoint depends on. */
export function agentTree(agent: Agent): unknown {
  return agent.shape ?? { name: agent.name }
}

/** Throws INVALID_CHECKPOINT when the agents lack something the checkpoint was saved with. They may have more. */
export function assertSameAgents(checkpoint: Checkpoint, agent: Agent): void {
  const difference = firstLoss(checkpoint.agents, agentTree(agent), 'agent')
  if (difference !== undefined)
    throw invalidCheckpoint(`The agents have changed since the run was saved: ${difference}.`)
}

function firstLoss(saved: unknown, now: unknown, path: string): string | undefined {
  if (isObject(saved) && isObject(now)) {
    for (const [key, value] of Object.entries(saved)) {
      const loss = firstLoss(value, now[key], `${path}.${key}`)
      if (loss !== undefined) return loss
    }
    return undefined
  }
  return Object.is(saved, now) ? undefined : `${path} was ${showValue(saved)} and is ${showValue(now)}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function showValue(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value)
}

function invalidCheckpoint(message: string): MillraceError {
  return new MillraceError('INVALID_CHECKPOINT', message)
}
