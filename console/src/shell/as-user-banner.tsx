import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { asUser } from '../session/as-user.js'
import './as-user-banner.css'

/** Says that an operator sees another user's data. */
export function AsUserBanner(): ReactNode {
  const texts = useTexts()
  const user = asUser.use()
  if (user === undefined) return null
  return (
    <div className="as-user" role="status">
      <span>{texts.asUser(user)}</span>
      <button className="button" onClick={() => asUser.set(undefined)}>
        {texts.asUserEnd}
      </button>
    </div>
  )
}
