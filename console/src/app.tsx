import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import { ChatPage } from './chat/chat-page.js'
import { language, useTexts } from './i18n/use-texts.js'
import { useRoute } from './router.js'
import { ApiError, openApi, type Api } from './session/api.js'
import { SignIn } from './session/sign-in.js'
import { asUser } from './session/as-user.js'
import { ApiContext } from './session/use-api.js'
import { applySettings, theme } from './settings.js'
import { Shell } from './shell/shell.js'
import { Notice } from './ui/notice.js'

const InspectPage = lazy(async () => ({ default: (await import('./inspector/inspect-page.js')).InspectPage }))
const RunsPage = lazy(async () => ({ default: (await import('./runs/runs-page.js')).RunsPage }))
const AgentsPage = lazy(async () => ({ default: (await import('./agents/agents-page.js')).AgentsPage }))

export function App(): ReactNode {
  const themeName = theme.use()
  const languageName = language.use()
  useEffect(() => applySettings(themeName, languageName), [themeName, languageName])
  const texts = useTexts()
  const [api, setApi] = useState<Api | ApiError | Error>()
  const open = (): void => {
    setApi(undefined)
    openApi().then(setApi, setApi)
  }
  const user = asUser.use()
  useEffect(open, [user])
  if (api === undefined) return <Notice>{texts.loading}</Notice>
  if (api instanceof ApiError && api.status === 401) return <SignIn onToken={open} />
  if (api instanceof Error)
    return (
      <Notice title={texts.unreachable} action={{ label: texts.retry, run: open }}>
        {api.message}
      </Notice>
    )
  return (
    <ApiContext value={api}>
      <Shell>
        <Suspense fallback={<Notice>{texts.loading}</Notice>}>
          <Page />
        </Suspense>
      </Shell>
    </ApiContext>
  )
}

function Page(): ReactNode {
  const route = useRoute()
  switch (route.page) {
    case 'chat':
      return <ChatPage route={route} />
    case 'runs':
      return <RunsPage />
    case 'agents':
      return <AgentsPage route={route} />
    case 'inspect':
      return <InspectPage route={route} />
  }
}
