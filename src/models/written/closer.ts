import type { ModelPart } from '../model.js'

/** Adds the ends that a written answer leaves out. */
export interface Closer {
  /** The part, after the ends of what it ends. */
  add(part: ModelPart): ModelPart[]
  readonly hasCalls: boolean
  readonly isFinished: boolean
}

/** Makes the closer of one answer. Text, reasoning and tool calls end each other; `finish` ends all. */
export function createCloser(): Closer {
  let open: 'text' | 'reasoning' | undefined
  let hasCalls = false
  let isFinished = false
  const calls = new Set<string>()

  function turnTo(next: typeof open): ModelPart[] {
    const ended: ModelPart[] = open === undefined || open === next ? [] : [{ type: `${open}-end` }]
    open = next
    return ended
  }

  function endOf(kind: 'text' | 'reasoning'): ModelPart[] {
    const ended = turnTo(kind)
    open = undefined
    return ended
  }

  function before(part: ModelPart): ModelPart[] {
    switch (part.type) {
      case 'text-delta':
        return turnTo('text')
      case 'text-end':
        return endOf('text')
      case 'reasoning-delta':
        return turnTo('reasoning')
      case 'reasoning-end':
        return endOf('reasoning')
      case 'tool-call-start':
        hasCalls = true
        calls.add(part.toolCallId)
        return turnTo(undefined)
      case 'tool-call-delta':
        return []
      case 'tool-call-end':
        calls.delete(part.toolCallId)
        return []
      case 'finish':
        isFinished = true
        return [
          ...turnTo(undefined),
          ...Array.from(calls, (toolCallId) => ({ type: 'tool-call-end', toolCallId }) as const),
        ]
    }
  }

  return {
    add: (part) => [...before(part), part],
    get hasCalls() {
      return hasCalls
    },
    get isFinished() {
      return isFinished
    },
  }
}
