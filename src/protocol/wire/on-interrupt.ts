import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import { isEqual, isRecord, parseJson } from '../../core/json.js'
import type { EventOf } from '../contract.js'

interface LegacyInterrupt {
  readonly value: unknown
  /** The interrupts that it stands for. */
  readonly ids: string[]
}

/**
 * Interrupts as front ends before 1.0 read them: CUSTOM `on_interrupt` with the value that a graph gave to `interrupt()`.
 * An interrupt of another runtime is its own value.
 */
export function onInterruptEvents(interrupts: readonly Interrupt[]): EventOf<'CUSTOM'>[] {
  return toLegacyInterrupts(interrupts).map(({ value }) => ({ type: 'CUSTOM', name: 'on_interrupt', value }))
}

/**
 * Whether the outcome hides the value of a graph. CopilotKit gives its pages the interrupt of the outcome where there is one,
 * in place of the value that they are written for, and with the members that AG-UI knows alone. Of several interrupts it
 * gives one value only: there the outcome says more.
 */
export function hidesValue(interrupts: readonly Interrupt[]): boolean {
  const [only, ...others] = toLegacyInterrupts(interrupts)
  const [interrupt] = interrupts
  if (!only || !interrupt || others.length > 0 || only.value === null) return false
  if (!isRecord(only.value)) return true
  const shown = new Map(Object.entries(interrupt))
  // These clients get no `expiresAt`.
  const isHidden = ([key, member]: [string, unknown]): boolean =>
    key !== 'expiresAt' && !isEqual(shown.get(key), member)
  return Object.entries(only.value).some(isHidden)
}

/** The actions of a review of LangGraph are one again, as the graph raised it. */
function toLegacyInterrupts(interrupts: readonly Interrupt[]): LegacyInterrupt[] {
  const all: LegacyInterrupt[] = []
  let reviewed: LegacyInterrupt | undefined
  for (const interrupt of interrupts) {
    const raw: unknown = interrupt.metadata?.langgraph
    const { review, action, value = interrupt } = isRecord(raw) ? raw : {}
    if (reviewed && review === undefined && action !== undefined) {
      reviewed.ids.push(interrupt.id)
      continue
    }
    const one = { value: review ?? value, ids: [interrupt.id] }
    reviewed = review === undefined ? undefined : one
    all.push(one)
  }
  return all
}

/**
 * The answers in `forwardedProps.command.resume`, where clients before 1.0 put them: an object by the ids of open
 * interrupts, a list of `decisions` with one for each of them in their order, or any one value, `false` too, for the one
 * whose value is repeated in `command.interruptEvent`, or for the only one. None where it is not clear whose answer it is.
 */
export function legacyAnswers(open: readonly Interrupt[], forwardedProps: unknown): ResumeEntry[] {
  const { resume: payload, interruptEvent } = commandIn(forwardedProps)
  if (payload === undefined || open.length === 0) return []
  const ids = open.map(({ id }) => id)
  const byId = isRecord(payload) ? Object.entries(payload) : []
  if (byId.length > 0 && byId.every(([id]) => ids.includes(id)))
    return byId.map(([interruptId, value]) => resolved(interruptId, value))
  const meant = toLegacyInterrupts(open).filter(({ value }) => isEqual(value, interruptEvent))
  const asked = meant.length === 1 ? (meant[0]?.ids ?? []) : ids
  const decisions = isRecord(payload) && Array.isArray(payload.decisions) ? payload.decisions : []
  if (decisions.length === asked.length) return asked.map((id, index) => resolved(id, decisions[index]))
  const [only, ...others] = asked
  return only === undefined || others.length > 0 ? [] : [resolved(only, payload)]
}

/** Whether a request has an answer where clients before 1.0 put it. */
export function hasLegacyAnswer(forwardedProps: unknown): boolean {
  return commandIn(forwardedProps).resume !== undefined
}

function resolved(interruptId: string, payload: unknown): ResumeEntry {
  return { interruptId, status: 'resolved', payload }
}

function commandIn(forwardedProps: unknown): {
  readonly resume?: unknown
  readonly interruptEvent?: unknown
} {
  const command = isRecord(forwardedProps) ? forwardedProps.command : undefined
  if (!isRecord(command)) return {}
  return { resume: fromText(command.resume ?? undefined), interruptEvent: fromText(command.interruptEvent) }
}

/** Front ends may send JSON as text. Other text is what a person wrote. */
function fromText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  return parseJson(value) ?? value
}
