import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import { RowView } from './row-view.js'
import type { Row } from './rows.js'
import { useFollow } from './use-follow.js'
import './message-list.css'

interface MessageListProps {
  readonly rows: readonly Row[]
  /** What stands after the last message, and always stays in the page. */
  readonly children: ReactNode
}

/** The conversation. Only what can be seen is in the page. It follows what comes while the person is at its end. */
export function MessageList({ rows, children }: MessageListProps): ReactNode {
  const texts = useTexts()
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { isFollowing, jump } = useFollow(scroller, content)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimates[rows[index]?.kind ?? 'text'],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
  })
  // A row above that turns out taller must not move what the person reads.
  useEffect(() => {
    virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, { scrollOffset }) =>
      item.start < (scrollOffset ?? 0)
  }, [virtualizer])
  const items = virtualizer.getVirtualItems()
  return (
    <div className="message-list">
      <div
        ref={scroller}
        className="message-scroll"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={texts.chat}
      >
        <div ref={content} className="message-column">
          <div className="message-space" style={{ height: virtualizer.getTotalSize() }}>
            {items.map(({ key, index, start }) => {
              const row = rows[index]
              return (
                row && (
                  <div
                    key={key}
                    ref={virtualizer.measureElement}
                    data-index={index}
                    className="message-row"
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    <RowView row={row} />
                  </div>
                )
              )
            })}
          </div>
          {children}
        </div>
      </div>
      {!isFollowing && (
        <button type="button" className="button message-jump" onClick={jump}>
          <span className="message-jump-icon">
            <Icon name="send" size={15} />
          </span>
          {texts.jumpToNewest}
        </button>
      )}
    </div>
  )
}

const estimates: Readonly<Record<Row['kind'], number>> = {
  ...{ user: 84, text: 120, reasoning: 44, call: 56 },
  ...{ activity: 56, event: 56, subagent: 60 },
}
