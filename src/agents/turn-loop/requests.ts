import type { Message, ResumeEntry } from '@ag-ui/core'
import { systemClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { sortAnswers } from '../interrupts/answers.js'
import { advance, whenAtRest, type Loop, type Turn } from './engine.js'
import { over, questionsOf } from './held.js'
import { hasCall, hasResult, toMessages, type Pushed } from './pushed.js'
import type { PushOptions, StopOptions } from './turn-loop.js'

/** Takes messages, and does to the turn at work what they ask for. */
export function push(loop: Loop, pushed: Pushed, { mode = 'queue', ...limit }: PushOptions = {}): void {
  assertOpen(loop)
  const messages = toMessages(pushed, loop.newId)
  for (const message of messages) assertCalled(loop, message)
  const before = loop.held.queue.length
  for (const message of messages) if (!isKnown(loop, message)) enqueue(loop, message)
  if (loop.held.queue.length === before) return
  const { turn } = loop
  if (turn && !turn.isOver) interfere(turn, { mode, ...limit })
  // A turn that waits for the client is at a safe point.
  else if (mode === 'preempt' || mode === 'now') loop.held = over(loop.held)
  advance(loop)
}

function interfere(turn: Turn, { mode, ...limit }: PushOptions): void {
  if (mode === 'queue') return
  turn.isPreempted = true
  turn.isGivenUp ||= mode !== 'after-tools'
  if (mode === 'now') turn.run.cancel()
  else turn.run.cancel({ at: mode === 'preempt' ? 'model' : 'tools', ...limit })
}

function enqueue(loop: Loop, message: Message): void {
  loop.held = { ...loop.held, queue: [...loop.held.queue, message] }
}

/** The conversation as far as it is known: that of the turn at work, without what it has said so far. */
function knownMessages({ held, turn }: Loop): readonly Message[] {
  const begun = turn && !turn.isOver ? turn.taken : []
  return [...held.messages, ...begun, ...held.queue]
}

function isKnown(loop: Loop, message: Message): boolean {
  const known = knownMessages(loop)
  if (known.some(({ id }) => id === message.id)) return true
  return message.role === 'tool' && hasResult(known, message.toolCallId)
}

function assertCalled({ held, turn }: Loop, message: Message): void {
  if (message.role !== 'tool') return
  const { toolCallId } = message
  if (turn?.calls.has(toolCallId) === true || hasCall(held.messages, toolCallId)) return
  const details = { toolCallId }
  throw new MillraceError('NO_TOOL_RESULTS', `No call '${toolCallId}' was made that this answers.`, {
    details,
  })
}

/** Takes answers to open questions. */
export function answer(loop: Loop, entries: readonly ResumeEntry[]): void {
  assertOpen(loop)
  const open = questionsOf(loop.held).map(({ id }) => id)
  const { error } = sortAnswers(entries, { open, answered: [] })
  if (error) throw error
  loop.held = { ...loop.held, answers: [...loop.held.answers, ...entries] }
  advance(loop)
}

/** Stops the loop. Resolves when no turn is at work any more. */
export function stop(loop: Loop, { at = 'end', ...limit }: StopOptions = {}): Promise<void> {
  loop.isStopping = true
  const { turn } = loop
  if (turn && !turn.isOver) {
    turn.isStopped = true
    if (at !== 'end') turn.run.cancel({ at, ...limit })
    else if (limit.timeoutMs !== undefined) cutOffAfter(loop, turn, limit.timeoutMs)
  }
  advance(loop)
  return whenAtRest(loop)
}

function cutOffAfter({ options }: Loop, { run }: Turn, timeoutMs: number): void {
  const { clock = systemClock } = options
  const forget = clock.schedule(timeoutMs, () => run.cancel())
  void run.result.then(forget)
}

function assertOpen({ isStopping }: Loop): void {
  if (isStopping) throw new MillraceError('RUN_CLOSED', 'The turn loop was stopped and takes nothing more.')
}
