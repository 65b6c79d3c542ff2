import type { ReactNode } from 'react'
import type { Route } from '../router.js'
import { Notice } from '../ui/notice.js'

export function AgentsPage({ route }: { readonly route: Route }): ReactNode {
  return <Notice title={route.page} />
}
