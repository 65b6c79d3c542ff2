import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Api } from '../../session/api.js'
import { useApi } from '../../session/use-api.js'
import { parseRunFile } from '../model/run-file.js'
import { openOwnRun, parseOwnRun } from './own-run.js'
import { RunRecord, type SourceFailure } from './run-record.js'

/** How many runs the page keeps, so that two can be compared. */
const maxOpen = 12

/** Runs that are open in this page, the latest last. */
const openRuns = new Map<string, RunRecord>()

export function keepRun(record: RunRecord): void {
  openRuns.delete(record.source)
  openRuns.set(record.source, record)
  for (const [source, oldest] of openRuns) {
    if (openRuns.size <= maxOpen) break
    oldest.stop()
    openRuns.delete(source)
  }
  for (const listener of listeners) listener()
}

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Names of the runs that are open. */
export function openSources(): readonly string[] {
  return [...openRuns.keys()].toReversed()
}

/** Takes a saved run in. Returns its name. Rejects with a `RunFileError`. */
export async function openFile(file: File): Promise<string> {
  const source = `file:${file.name}`
  keepRun(new RunRecord(source, parseRunFile(await file.text())))
  return source
}

export type LoadedRun =
  | { readonly kind: 'loading' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly failure: SourceFailure; readonly retry: () => void }
  | { readonly kind: 'run'; readonly record: RunRecord }

/** The run of a source. Files and foreign runs that were open before the page was loaded are absent. */
export function useRun(source: string): LoadedRun {
  const api = useApi()
  const open = useSyncExternalStore(subscribe, () => openRuns.get(source))
  const [attempt, setAttempt] = useState(0)
  const [result, setResult] = useState<{ readonly source: string; readonly loaded: LoadedRun }>()
  useEffect(() => {
    if (open) return
    let isCurrent = true
    const retry = (): void => setAttempt((number) => number + 1)
    const show = (loaded: LoadedRun): void => {
      if (isCurrent) setResult({ source, loaded })
    }
    void load(api, source, retry).then(show)
    return () => {
      isCurrent = false
    }
  }, [api, source, attempt, open])
  if (open) return { kind: 'run', record: open }
  return result?.source === source ? result.loaded : { kind: 'loading' }
}

async function load(api: Api, source: string, retry: () => void): Promise<LoadedRun> {
  const run = parseOwnRun(source)
  if (!run) return { kind: 'absent' }
  try {
    const record = await openOwnRun(api, source, run)
    keepRun(record)
    return { kind: 'run', record }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', failure: { key: 'insApiFailed', detail }, retry }
  }
}

/** Renders again whenever something has come. */
export function useRevision(record: RunRecord): number {
  return useSyncExternalStore(record.subscribe, record.getRevision)
}
