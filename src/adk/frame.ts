import type { Event } from '@google/adk'
import type { InterruptFrame } from '../agents/index.js'
import type { Question } from './ask/questions.js'

/** What a run that stopped to ask, or waits for the client, leaves behind. JSON, saved with the thread. */
export interface AdkFrame extends InterruptFrame {
  readonly interrupts: readonly Question[]
  /** The events of the turn, for a session that does not have them: one in memory, after a restart. */
  readonly events: readonly Event[]
  /** How often each loop of the tree had gone round. */
  readonly iterations: Readonly<Record<string, number>>
}
