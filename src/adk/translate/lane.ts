import type { Event } from '@google/adk'
import type { Scope } from './scopes.js'
import { createSpeech, type Speech } from './speech.js'
import type { TranslatorOptions } from './translator.js'
import type { Bill } from './usage.js'

/** One voice in the stream of events. Those of siblings that run at the same time interleave and stay apart. */
export interface Lane {
  readonly author: string
  readonly branch: string | undefined
  readonly path: string | undefined
  /** The run's own agent, another agent, or a node of a workflow that is none. */
  readonly kind: 'root' | 'agent' | 'node'
  /** What it writes is data, not chat. */
  readonly hidesText: boolean
  readonly text: Speech
  readonly reasoning: Speech
  /** What it is saying right now. */
  open: Speech | undefined
  /** The message that its next call belongs to. */
  holder: string | undefined
  /** Whether the model has said or called something since it was asked. */
  hasSpoken: boolean
  /** The span or step it works in; it may be over. */
  scope: Scope | undefined
  /** What the model call that is under way has used. */
  bill: Bill | undefined
}

export interface Lanes {
  /** The lane of an event. */
  of(event: Event): Lane
  /** The lane that an event means which does not say where it stands: the one its author uses. */
  near(event: Event): Lane | undefined
  all(): Iterable<Lane>
}

export function createLanes(options: Pick<TranslatorOptions, 'rootAuthor' | 'isAgent' | 'hidesText'>): Lanes {
  const lanes = new Map<string, Lane>()
  let latest: Lane | undefined
  const keyOf = (author: string, branch: string | undefined, path: string | undefined): string =>
    `${author}\n${branch ?? ''}\n${path ?? ''}`

  return {
    of(event) {
      const { author = options.rootAuthor, branch } = event
      const path = event.nodeInfo?.path
      if (latest?.author === author && latest.branch === branch && latest.path === path) return latest
      const key = keyOf(author, branch, path)
      latest = lanes.get(key)
      if (!latest) {
        latest = createLane(options, { author, branch, path })
        lanes.set(key, latest)
      }
      return latest
    },
    near({ author = options.rootAuthor, branch, nodeInfo }) {
      const own = [...lanes.values()].filter((lane) => lane.author === author)
      return (
        own.findLast(({ open }) => open !== undefined) ??
        lanes.get(keyOf(author, branch, nodeInfo?.path)) ??
        own.at(-1)
      )
    },
    all: () => lanes.values(),
  }
}

function createLane(
  { rootAuthor, isAgent, hidesText }: Pick<TranslatorOptions, 'rootAuthor' | 'isAgent' | 'hidesText'>,
  place: Pick<Lane, 'author' | 'branch' | 'path'>,
): Lane {
  const { author } = place
  // ADK signs what a plugin answers in the place of the agent with 'model'.
  const isRoot = author === rootAuthor || author === 'model'
  return {
    ...place,
    kind: isRoot ? 'root' : isAgent(author) ? 'agent' : 'node',
    hidesText: hidesText(author),
    text: createSpeech('text'),
    reasoning: createSpeech('reasoning'),
    open: undefined,
    holder: undefined,
    hasSpoken: false,
    scope: undefined,
    bill: undefined,
  }
}

/** The tag of a lane's events, to be spread into them. */
export function tagOf(lane: Lane | undefined): { subagentRunId?: string } {
  const id = lane?.scope?.subagentRunId
  return id === undefined ? {} : { subagentRunId: id }
}
