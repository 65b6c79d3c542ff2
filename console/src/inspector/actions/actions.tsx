import { useId, useRef, useState, type ReactNode } from 'react'
import type { Texts } from '../../i18n/en.js'
import { useTexts } from '../../i18n/use-texts.js'
import type { Api } from '../../session/api.js'
import { useApi } from '../../session/use-api.js'
import { Icon } from '../../ui/icon.js'
import { toCurl, toFixture, toVitest } from '../model/copy-as.js'
import { toLintInput } from '../model/lint-input.js'
import { fileNameOf, formatRunFile } from '../model/run-file.js'
import { urlOfAgent } from '../source/own-run.js'
import type { RunRecord } from '../source/run-record.js'
import type { LintVerdict } from '../source/use-lint.js'
import { CompareDialog } from './compare-dialog.js'
import { ForkDialog } from './fork-dialog.js'
import './actions.css'

interface ActionsProps {
  readonly record: RunRecord
  readonly index: number
  readonly verdict: LintVerdict | undefined
  readonly onCompare: (source: string) => void
}

/** What can be done with a run. */
export function Actions({ record, index, verdict, onCompare }: ActionsProps): ReactNode {
  const texts = useTexts()
  const api = useApi()
  const [dialog, setDialog] = useState<'fork' | 'rerun' | 'compare'>()
  const [told, setTold] = useState('')
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setTold(texts.insCopied),
      () => setTold(texts.insNotCopied),
    )
  }
  const close = (): void => setDialog(undefined)
  return (
    <div className="actions">
      <span className="tiny muted" role="status">
        {told}
      </span>
      <button className="button" onClick={() => setDialog('fork')}>
        {texts.insFork}
      </button>
      <button className="button" onClick={() => setDialog('rerun')}>
        {texts.insRerun}
      </button>
      <Menu
        label={texts.more}
        items={[
          { label: texts.insCompare, run: () => setDialog('compare') },
          { label: texts.insCopyCurl, run: () => copy(curlOf(api, record)) },
          { label: texts.insCopyFixture, run: () => copy(toFixture(record.file)) },
          { label: texts.insCopyTest, run: () => copy(testOf(record, verdict)) },
          { label: texts.insSave, run: () => setTold(save(record, texts)) },
        ]}
      />
      {dialog === 'fork' && <ForkDialog record={record} index={index} onClose={close} />}
      {dialog === 'rerun' && <ForkDialog record={record} onClose={close} />}
      {dialog === 'compare' && <CompareDialog record={record} onClose={close} onChoose={onCompare} />}
    </div>
  )
}

interface MenuProps {
  readonly label: string
  readonly items: readonly { readonly label: string; readonly run: () => void }[]
}

/** A list of commands. The browser closes it on Escape and on a click elsewhere. */
function Menu({ label, items }: MenuProps): ReactNode {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const place = (): void => {
    const box = button.current?.getBoundingClientRect()
    if (!box || !list.current) return
    list.current.style.top = `${box.bottom + 4}px`
    list.current.style.right = `${document.documentElement.clientWidth - box.right}px`
  }
  return (
    <>
      <button className="button button-icon" aria-label={label} title={label} popoverTarget={id} ref={button}>
        <Icon name="more" />
      </button>
      <div className="actions-menu card" id={id} popover="auto" ref={list} onBeforeToggle={place}>
        {items.map(({ label: text, run }) => (
          <button
            key={text}
            className="actions-item"
            onClick={() => {
              list.current?.hidePopover()
              run()
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  )
}

function curlOf(api: Api, { head, request, travel }: RunRecord): string {
  const { threadId, runId, agent = '' } = head
  const { messages, state } = travel.start
  const input = request?.input ?? head.input ?? { threadId, runId, messages, state, tools: [], context: [] }
  return toCurl(request?.url ?? head.url ?? urlOfAgent(api, agent), input, request?.headers)
}

function testOf(record: RunRecord, verdict: LintVerdict | undefined): string {
  const { file, travel, entries } = record
  return toVitest({
    file,
    strict: entries.flatMap((_, index) => travel.strictAt(index)),
    start: travel.start,
    end: travel.at(entries.length - 1),
    lintInput: toLintInput(file, travel.start),
    violations: verdict?.all ?? [],
  })
}

/** Gives the run file to the browser to save. Returns what to say. */
function save({ file }: RunRecord, texts: Texts): string {
  const url = URL.createObjectURL(new Blob([formatRunFile(file)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileNameOf(file)
  link.click()
  URL.revokeObjectURL(url)
  return texts.insSaved
}
