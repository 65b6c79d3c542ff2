import type { Texts } from '../i18n/en.js'

/** In the order of the filter. */
export const runStatuses = [
  'running',
  'interrupted',
  'waiting-for-tools',
  'completed',
  'cancelled',
  'failed',
  'lost',
] as const

const looks: Readonly<Record<string, readonly [text: keyof Texts, badge: string]>> = {
  running: ['runStatusRunning', 'badge-accent'],
  completed: ['runStatusCompleted', 'badge-good'],
  interrupted: ['runStatusInterrupted', 'badge-warn'],
  'waiting-for-tools': ['runStatusWaiting', 'badge-warn'],
  cancelled: ['runStatusCancelled', ''],
  failed: ['runStatusFailed', 'badge-bad'],
  lost: ['runStatusLost', 'badge-bad'],
}

export function statusText(status: string, texts: Texts): string {
  const text = texts[looks[status]?.[0] ?? 'runStatusRunning']
  return looks[status] && typeof text === 'string' ? text : status
}

export function statusBadge(status: string): string {
  return `badge ${looks[status]?.[1] ?? ''}`.trimEnd()
}
