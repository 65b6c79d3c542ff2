import type { ReactNode } from 'react'
import { Notice } from '../ui/notice.js'

export function RunsPage(): ReactNode {
  return <Notice title="runs" />
}
