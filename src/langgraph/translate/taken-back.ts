import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'
import type { ToolCalls } from './tool-calls.js'

/** What an answer has told before it broke off. */
export interface Draft {
  readonly span: string | undefined
  readonly messageId: string | undefined
  readonly reasoningIds: readonly string[]
  readonly callIds: readonly string[]
}

export interface TakenBack {
  /** An answer broke off. Whether that ends the run is not known yet. */
  note(draft: Draft): void
  /** The graph goes on there without it: clients may hide what was told of it, and no model is to see it. */
  overcome(span: string | undefined): void
}

const metadata = { millrace: { rejected: 'error' } }

export function createTakenBack(sink: EventSink, calls: ToolCalls): TakenBack {
  let drafts: Draft[] = []

  const mark = ({ span, messageId, reasoningIds, callIds }: Draft): void => {
    const tag = tagged(span)
    for (const id of reasoningIds) {
      sink.add({ type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning', metadata, ...tag })
      sink.add({ type: 'REASONING_MESSAGE_END', messageId: id, ...tag })
    }
    if (messageId !== undefined) {
      sink.add({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', metadata, ...tag })
      sink.add({ type: 'TEXT_MESSAGE_END', messageId, ...tag })
    }
    const content = 'This call was taken back. It was not carried out.'
    for (const toolCallId of callIds) calls.result({ toolCallId, content, span, metadata })
  }

  return {
    note(draft) {
      drafts.push(draft)
    },
    overcome(span) {
      if (drafts.length === 0) return
      const overcome = drafts.filter((draft) => draft.span === span)
      drafts = drafts.filter((draft) => draft.span !== span)
      for (const draft of overcome) mark(draft)
    },
  }
}
