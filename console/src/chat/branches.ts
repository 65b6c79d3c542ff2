import { createContext, use, useEffect, useState } from 'react'
import type { ThreadInfo } from 'millrace/client'
import { useApi } from '../session/use-api.js'
import { textOf } from './content-view.js'
import type { Message } from './rows.js'

/** The threads that differ from one message on, oldest branch first. */
export interface Branches {
  readonly threadIds: readonly string[]
  readonly at: number
}

export type BranchMap = ReadonlyMap<string, Branches>

const none: BranchMap = new Map()
const maxBranches = 20

export const BranchContext = createContext<BranchMap>(none)

export function useBranchesOf(messageId: string): Branches | undefined {
  return use(BranchContext).get(messageId)
}

interface BranchQuery {
  readonly agent: string
  readonly threadId: string
  readonly messages: readonly Message[]
  /** False while the messages still change. */
  readonly isAtRest: boolean
  /** Another number after each fork. */
  readonly forks: number
}

/** Finds the branches of a thread by their beginnings, by the id of the message where they part. */
export function useBranches({ agent, threadId, messages, isAtRest, forks }: BranchQuery): BranchMap {
  const api = useApi()
  const [branches, setBranches] = useState(none)
  useEffect(() => {
    const abort = new AbortController()
    if (!isAtRest || messages.length === 0) return
    const load = async (): Promise<BranchMap> => {
      const { threads } = await api.client.threads.list(agent, { limit: 200 })
      const family = familyOf(threads, threadId).slice(-maxBranches)
      const others = family.filter((id) => id !== threadId)
      const loaded = await Promise.all(
        others.map(async (id) => {
          const path = `/agents/${encodeURIComponent(agent)}/message_snapshot/${encodeURIComponent(id)}`
          const response = await api.fetch(path, { signal: abort.signal })
          const body = (await response.json()) as { readonly messages?: readonly Message[] }
          return [id, body.messages ?? []] as const
        }),
      )
      return branchMap(messages, { threadId, family, others: new Map(loaded) })
    }
    load().then(
      (found) => !abort.signal.aborted && setBranches(found),
      // The banner says that the server is away. Without it there are no branches to go to.
      () => undefined,
    )
    return () => abort.abort()
    // The messages are read when the thread comes to rest, not with each delta.
  }, [api, agent, threadId, isAtRest, forks])
  return branches
}

/** The thread, those that were forked from it, the one that it was forked from and the other forks of that. */
function familyOf(threads: readonly ThreadInfo[], threadId: string): readonly string[] {
  const parent = threads.find((one) => one.threadId === threadId)?.forkedFrom
  const forks = threads
    .filter(
      ({ forkedFrom }) => forkedFrom !== undefined && (forkedFrom === threadId || forkedFrom === parent),
    )
    .toSorted((left, right) => left.createdAt - right.createdAt)
    .map((one) => one.threadId)
  const roots = [threadId, ...(parent === undefined ? [] : [parent])].filter((id) => !forks.includes(id))
  return [...forks, ...roots]
}

interface Family {
  readonly threadId: string
  readonly family: readonly string[]
  readonly others: ReadonlyMap<string, readonly Message[]>
}

/** Where the others part from the messages shown. */
function branchMap(messages: readonly Message[], { threadId, family, others }: Family): BranchMap {
  const own = messages.filter(({ role }) => role !== 'activity')
  const idsAt = new Map<string, Set<string>>()
  for (const [id, otherMessages] of others) {
    const theirs = otherMessages.filter(({ role }) => role !== 'activity')
    const first = own.findIndex((message, index) => !isSameMessage(message, theirs[index]))
    // It shows where there is something to see.
    const shown = first === -1 ? undefined : own.slice(first).find(isShown)
    if (shown) idsAt.set(shown.id, (idsAt.get(shown.id) ?? new Set([threadId])).add(id))
  }
  const entries = [...idsAt].map(([messageId, ids]): [string, Branches] => {
    const threadIds = family.filter((id) => ids.has(id))
    return [messageId, { threadIds, at: threadIds.indexOf(threadId) }]
  })
  return new Map(entries)
}

function isSameMessage(left: Message, right: Message | undefined): boolean {
  return (
    left.id === right?.id && JSON.stringify(left.content ?? null) === JSON.stringify(right.content ?? null)
  )
}

function isShown(message: Message): boolean {
  return message.role === 'user' || (message.role === 'assistant' && textOf(message.content) !== '')
}
