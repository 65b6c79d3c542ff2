import { useEffect } from 'react'
import type { Texts } from '../i18n/en.js'
import { useTexts } from '../i18n/use-texts.js'
import type { Route } from '../router.js'

/** Names the page in the browser's tab and history. */
export function usePageTitle(route: Route): void {
  const texts = useTexts()
  const title = titleOf(route, texts)
  useEffect(() => {
    document.title = `${title} · Millrace`
  }, [title])
}

function titleOf(route: Route, texts: Texts): string {
  const part = 'agent' in route ? route.agent : undefined
  const page = { chat: texts.chat, runs: texts.runs, agents: texts.agents, inspect: texts.inspect }[
    route.page
  ]
  return part === undefined ? page : `${part} · ${page}`
}
