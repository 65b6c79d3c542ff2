import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { hrefOf, useRoute, type Route } from '../router.js'
import { Icon, type IconName } from '../ui/icon.js'
import { ThreadList } from '../threads/thread-list.js'
import { Preferences } from './preferences.js'
import './shell.css'

/** The frame around every page: navigation and threads on the left, or in a drawer on small screens. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const texts = useTexts()
  const route = useRoute()
  const [isOpen, setOpen] = useState(false)
  const close = (): void => setOpen(false)
  return (
    <div className="shell" data-open={isOpen}>
      <a className="shell-skip button" href="#main">
        {texts.chat}
      </a>
      <nav
        className="sidebar"
        aria-label={texts.menu}
        onClick={(event) => closeAfterLink(event.target, close)}
      >
        <div className="sidebar-head">
          <span className="brand">
            <span className="brand-mark" aria-hidden="true" />
            Millrace
          </span>
          <button className="button button-icon sidebar-close" aria-label={texts.close} onClick={close}>
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
        <Preferences />
      </nav>
      <button className="shell-scrim" aria-label={texts.close} tabIndex={-1} onClick={close} />
      <main id="main" className="shell-main" tabIndex={-1}>
        <button
          className="button button-icon shell-menu"
          aria-label={texts.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(true)}
        >
          <Icon name="menu" />
        </button>
        {children}
      </main>
    </div>
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
