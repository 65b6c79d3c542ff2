import { useEffect, useState, type ReactNode } from 'react'
import type { ThreadSnapshot } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import './connection-banner.css'

const healedMs = 4000

/** Says that the connection is lost, and for a while that it is back. */
export function ConnectionBanner({
  connection,
}: {
  readonly connection: ThreadSnapshot['connection']
}): ReactNode {
  const texts = useTexts()
  const [shown, setShown] = useState<'lost' | 'healed'>()
  useEffect(() => {
    if (connection === 'retrying') setShown('lost')
    if (connection === 'open') setShown((before) => (before === 'lost' ? 'healed' : before))
  }, [connection])
  useEffect(() => {
    if (shown !== 'healed') return
    const timer = setTimeout(() => setShown(undefined), healedMs)
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <div className="connection" role="status" aria-live="polite">
      {shown === 'lost' && (
        <p className="connection-line connection-lost">
          <Icon name="warn" size={15} />
          {texts.connectionLost}
        </p>
      )}
      {shown === 'healed' && (
        <p className="connection-line connection-healed">
          <Icon name="check" size={15} />
          {texts.connectionBack}
        </p>
      )}
    </div>
  )
}
