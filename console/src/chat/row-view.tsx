import { memo, type ReactNode } from 'react'
import { Activity, EventNote } from './activity.js'
import { AnswerText } from './answer-text.js'
import { Reasoning } from './reasoning.js'
import type { Row } from './rows.js'
import { SubagentGroup } from './subagent-group.js'
import { ToolCard } from './tool-card.js'
import { UserMessage } from './user-message.js'

/** One entry of the conversation. Drawn anew only when the entry has changed. */
export const RowView = memo(({ row }: { readonly row: Row }): ReactNode => {
  switch (row.kind) {
    case 'user':
      return <UserMessage message={row.message} />
    case 'text':
      return <AnswerText message={row.message} />
    case 'reasoning':
      return <Reasoning row={row} />
    case 'call':
      return <ToolCard row={row} />
    case 'activity':
      return <Activity message={row.message} />
    case 'event':
      return <EventNote event={row.event} />
    case 'subagent':
      return <SubagentGroup row={row} />
  }
})
