import { useEffect, useState } from 'react'
import type { Violation } from 'millrace/testing'
import { toLintInput } from '../model/lint-input.js'
import type { LintQuestion } from './lint-worker.js'
import type { RunRecord } from './run-record.js'

/** What the linter says of a run. Undefined until it has read all of it. */
export interface LintVerdict {
  readonly all: readonly Violation[]
  readonly byEvent: ReadonlyMap<number, readonly Violation[]>
}

const verdicts = new WeakMap<RunRecord, LintVerdict>()

/** The verdict on a run that is over. */
export function useLint(record: RunRecord, isLive: boolean): LintVerdict | undefined {
  const [verdict, setVerdict] = useState(verdicts.get(record))
  useEffect(() => {
    const known = verdicts.get(record)
    setVerdict(known)
    if (known || isLive) return
    const worker = new Worker(new URL('./lint-worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<readonly Violation[]>) => {
      const byEvent = new Map<number, Violation[]>()
      for (const violation of data) {
        const { index = -1 } = violation
        byEvent.set(index, [...(byEvent.get(index) ?? []), violation])
      }
      verdicts.set(record, { all: data, byEvent })
      setVerdict(verdicts.get(record))
      worker.terminate()
    }
    const input = toLintInput(record.file, record.travel.start)
    const question: LintQuestion = {
      events: record.entries.map(({ event, raw }) => event ?? raw ?? null),
      options: {
        ...(input === undefined ? {} : { input }),
        complete: record.failure === undefined && record.head.isCut !== true,
      },
    }
    worker.postMessage(question)
    return () => worker.terminate()
  }, [record, isLive])
  return verdict
}
