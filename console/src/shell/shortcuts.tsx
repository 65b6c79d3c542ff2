import { useEffect, useRef, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { go, type Route } from '../router.js'
import { createSetting } from '../settings.js'
import { Dialog } from '../ui/dialog.js'
import './shortcuts.css'

/** Keys that are letters can be in the way of speech input and habits, so they can be turned off. */
const shortcuts = createSetting('shortcuts', ['on', 'off'], 'on')

const places: Readonly<Record<string, Route>> = {
  c: { page: 'chat' },
  r: { page: 'runs' },
  a: { page: 'agents' },
  i: { page: 'inspect', source: '' },
}

interface ShortcutsProps {
  readonly isShown: boolean
  readonly onShow: () => void
  readonly onClose: () => void
}

/** The keys of the whole console, and the help that lists them. */
export function Shortcuts({ isShown, onShow, onClose }: ShortcutsProps): ReactNode {
  const texts = useTexts()
  const state = shortcuts.use()
  useShortcutKeys(state === 'on', onShow)
  if (!isShown) return null
  return (
    <Dialog title={texts.shortcuts} onClose={onClose}>
      <dl className="shortcuts">
        <Keys keys={['?']}>{texts.shortcutHelp}</Keys>
        <Keys keys={['g', 'c']}>{texts.chat}</Keys>
        <Keys keys={['g', 'r']}>{texts.runs}</Keys>
        <Keys keys={['g', 'a']}>{texts.agents}</Keys>
        <Keys keys={['g', 'i']}>{texts.inspect}</Keys>
        <Keys keys={['/']}>{texts.shortcutSearch}</Keys>
        <Keys keys={['Enter']}>{texts.shortcutSend}</Keys>
        <Keys keys={['Shift', 'Enter']}>{texts.shortcutLine}</Keys>
        <Keys keys={['Esc']}>{texts.shortcutStop}</Keys>
      </dl>
      <label className="shortcuts-switch small">
        <input
          type="checkbox"
          checked={state === 'on'}
          onChange={(event) => shortcuts.set(event.target.checked ? 'on' : 'off')}
        />
        {texts.shortcutsOn}
      </label>
      <div className="dialog-actions">
        <button className="button" autoFocus onClick={onClose}>
          {texts.close}
        </button>
      </div>
    </Dialog>
  )
}

function Keys({
  keys,
  children,
}: {
  readonly keys: readonly string[]
  readonly children: ReactNode
}): ReactNode {
  return (
    <div className="shortcuts-row">
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}

function useShortcutKeys(isOn: boolean, onHelp: () => void): void {
  const afterG = useRef(false)
  useEffect(() => {
    if (!isOn) return
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const place = afterG.current ? places[event.key] : undefined
      afterG.current = event.key === 'g'
      const search =
        event.key === '/' ? document.querySelector<HTMLElement>('#main [type=search]') : undefined
      if (place) go(place)
      else if (search) search.focus()
      else if (event.key === '?') onHelp()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [isOn, onHelp])
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog') !== null)
  )
}
