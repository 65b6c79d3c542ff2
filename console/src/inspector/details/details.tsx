import { useMemo, useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { Tabs } from '../../ui/tabs.js'
import { usageOf } from '../model/usage.js'
import type { RunRecord } from '../source/run-record.js'
import type { LintVerdict } from '../source/use-lint.js'
import { ChangesTab } from './changes-tab.js'
import { ClientTab } from './client-tab.js'
import { EventTab } from './event-tab.js'
import { RequestsTab } from './requests-tab.js'
import { UsageTab } from './usage-tab.js'
import './details.css'

type TabKey = 'event' | 'client' | 'requests' | 'changes' | 'usage'

interface DetailsProps {
  readonly record: RunRecord
  readonly revision: number
  /** The index of the current event; -1 is before the first. */
  readonly index: number
  readonly verdict: LintVerdict | undefined
  readonly onSelect: (index: number) => void
}

/** All that is known at one event. */
export function Details({ record, revision, index, verdict, onSelect }: DetailsProps): ReactNode {
  const texts = useTexts()
  const [tab, setTab] = useState<TabKey>('event')
  const { requests, changes } = record.head
  const faults = verdict?.byEvent.get(index)?.length
  const usage = useMemo(() => usageOf(record.file), [record, revision])
  return (
    <Tabs
      label={texts.insDetails}
      current={tab}
      onChange={setTab}
      tabs={[
        { key: 'event', label: texts.insEvent, note: faults === undefined ? undefined : String(faults) },
        { key: 'client', label: texts.insClient },
        { key: 'requests', label: texts.insRequests, note: countOf(requests) },
        { key: 'changes', label: texts.insChanges, note: countOf(changes) },
        { key: 'usage', label: texts.insUsage },
      ]}
    >
      {tab === 'event' && <EventTab record={record} index={index} verdict={verdict} onSelect={onSelect} />}
      {tab === 'client' && <ClientTab record={record} index={index} />}
      {tab === 'requests' && <RequestsTab record={record} index={index} />}
      {tab === 'changes' && <ChangesTab changes={changes} entries={record.entries} onSelect={onSelect} />}
      {tab === 'usage' && <UsageTab usage={usage} />}
    </Tabs>
  )
}

function countOf({ length }: { readonly length: number }): string | undefined {
  return length === 0 ? undefined : String(length)
}
