import type { ReactNode } from 'react'
import { language, useTexts, type Language } from '../i18n/use-texts.js'
import { useApi } from '../session/use-api.js'
import { theme } from '../settings.js'
import './preferences.css'

/** Who the person is, and the choice of colours and language. */
export function Preferences({ onHelp }: { readonly onHelp: () => void }): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  return (
    <div className="preferences">
      <select
        className="preference"
        aria-label={texts.theme}
        value={theme.use()}
        onChange={(event) => theme.set(event.target.value as 'auto')}
      >
        <option value="auto">{texts.themeAuto}</option>
        <option value="light">{texts.themeLight}</option>
        <option value="dark">{texts.themeDark}</option>
      </select>
      <select
        className="preference"
        aria-label={texts.language}
        value={language.use()}
        onChange={(event) => language.set(event.target.value as Language)}
      >
        <option value="en">English</option>
        <option value="zh">中文</option>
      </select>
      <div className="preferences-foot">
        <span className="muted tiny preferences-user" title={`${session.user} · ${session.version}`}>
          {session.user} · {session.version}
        </span>
        <button
          className="button button-icon preferences-help"
          aria-label={texts.shortcuts}
          title={`${texts.shortcuts} (?)`}
          onClick={onHelp}
        >
          ?
        </button>
      </div>
    </div>
  )
}
