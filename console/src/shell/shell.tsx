import { useCallback, useRef, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { hrefOf, useRoute, type Route } from '../router.js'
import { Icon, type IconName } from '../ui/icon.js'
import { ThreadList } from '../threads/thread-list.js'
import { AsUserBanner } from './as-user-banner.js'
import { Preferences } from './preferences.js'
import { Shortcuts } from './shortcuts.js'
import { useDrawer } from './use-drawer.js'
import { usePageTitle } from './use-page-title.js'
import './shell.css'

/** The frame around every page: navigation and threads on the left, or in a drawer on small screens. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const texts = useTexts()
  const route = useRoute()
  const drawer = useDrawer()
  const main = useRef<HTMLElement>(null)
  const [helps, setHelps] = useState(false)
  const showHelp = useCallback(() => setHelps(true), [])
  usePageTitle(route)
  return (
    <div className="shell" data-open={drawer.isOpen}>
      <a
        className="shell-skip button"
        href="#main"
        onClick={(event) => {
          // The hash is the page's address.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {texts.skipToMain}
      </a>
      <nav
        className="sidebar"
        aria-label={texts.menu}
        onClick={(event) => closeAfterLink(event.target, drawer.close)}
      >
        <div className="sidebar-head">
          <Brand />
          <button
            ref={drawer.first}
            className="button button-icon sidebar-close"
            aria-label={texts.close}
            onClick={drawer.close}
          >
            <Icon name="close" />
          </button>
        </div>
        <ul className="plain sidebar-nav">
          <NavLink to={{ page: 'chat' }} icon="chat" current={route.page}>
            {texts.chat}
          </NavLink>
          <NavLink to={{ page: 'runs' }} icon="runs" current={route.page}>
            {texts.runs}
          </NavLink>
          <NavLink to={{ page: 'agents' }} icon="agents" current={route.page}>
            {texts.agents}
          </NavLink>
          <NavLink to={{ page: 'inspect', source: '' }} icon="inspect" current={route.page}>
            {texts.inspect}
          </NavLink>
        </ul>
        <ThreadList />
        <Preferences onHelp={showHelp} />
      </nav>
      <button className="shell-scrim" aria-hidden="true" tabIndex={-1} onClick={drawer.close} />
      <main id="main" ref={main} className="shell-main" tabIndex={-1} inert={drawer.isOpen}>
        <button
          ref={drawer.opener}
          className="button button-icon shell-menu"
          aria-label={texts.menu}
          aria-expanded={drawer.isOpen}
          onClick={drawer.open}
        >
          <Icon name="menu" />
        </button>
        <AsUserBanner />
        <div className="shell-page">{children}</div>
      </main>
      <Shortcuts isShown={helps} onShow={showHelp} onClose={() => setHelps(false)} />
    </div>
  )
}

/** A wheel that turns in a stream. */
function Brand(): ReactNode {
  return (
    <a className="brand" href={hrefOf({ page: 'chat' })}>
      <svg className="brand-mark" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="10" r="7" />
        <path d="M12 3v14M5 10h14M7 5l10 10M17 5 7 15" />
        <path className="brand-stream" d="M1 20c3-3 5-3 8 0s5 3 8 0 4-2 6-1" />
      </svg>
      Millrace
    </a>
  )
}

interface NavLinkProps {
  readonly to: Route
  readonly icon: IconName
  readonly current: Route['page']
  readonly children: ReactNode
}

function NavLink({ to, icon, current, children }: NavLinkProps): ReactNode {
  return (
    <li>
      <a className="nav-link" href={hrefOf(to)} aria-current={to.page === current ? 'page' : undefined}>
        <Icon name={icon} />
        {children}
      </a>
    </li>
  )
}

function closeAfterLink(target: EventTarget, close: () => void): void {
  if (target instanceof Element && target.closest('a')) close()
}
