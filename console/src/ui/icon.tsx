import type { ReactNode } from 'react'

/** Drawn on a grid of 24, with lines of 1.8. */
const paths = {
  chat: 'M4 5h16v11H9l-5 4z',
  runs: 'M4 6h16M4 12h10M4 18h13',
  agents: 'M12 4v6M12 10H6v4M12 10h6v4M4 14h4v5H4zM16 14h4v5h-4z',
  inspect: 'M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500 20 20',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  search: 'M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500 20 20',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  copy: 'M9 9h10v10H9zM5 15V5h10',
  check: 'M5 12.500 10 17l9-10',
  edit: 'M5 19h4L19 9l-4-4L5 15zM13 7l4 4',
  again: 'M5 12a7 7 0 1 1 2 5M5 19v-4h4',
  attach: 'M8 12.500 14 6.500a3 3 0 0 1 4.500 4.500l-8 8a5 5 0 0 1-7-7l7.500-7.500',
  chevron: 'M9 6l6 6-6 6',
  tool: 'M14 7a4 4 0 0 1 5-3l-2.500 2.500 1 1L20 5a4 4 0 0 1-5 5l-8 8-3-3z',
  panel: 'M4 5h16v14H4zM14 5v14',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v1M12 20v1M3 12h1M20 12h1M5.600 5.600l.7.7M17.700 17.700l.7.7M5.600 18.400l.7-.7M17.700 6.300l.7-.7',
  branch: 'M7 4v16M7 14c6 0 10-2 10-7M17 4v3',
  bin: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  play: 'M8 5v14l11-7z',
  pause: 'M8 5v14M16 5v14',
  warn: 'M12 4 3 19h18zM12 10v4M12 16.500h.01',
} as const

export type IconName = keyof typeof paths

/** A picture beside words. Where it stands alone, its button has an `aria-label`. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
