import type { Texts } from '../i18n/en.js'

/** How a kind of agent is named and coloured. */
interface KindLook {
  readonly text: keyof Texts
  readonly colour: 'accent' | 'violet' | 'good' | 'warn' | 'plain'
  /** On a grid of 16. */
  readonly icon: string
}

const looks: Readonly<Record<string, KindLook>> = {
  chat: { text: 'kindChat', colour: 'accent', icon: 'M2.500 3.500h11v7H7l-3.500 2.500v-2.500h-1z' },
  sequence: { text: 'kindSequence', colour: 'violet', icon: 'M2 8h11M9.500 4.500 13 8l-3.500 3.500' },
  parallel: { text: 'kindParallel', colour: 'violet', icon: 'M3 4h10M3 8h10M3 12h10' },
  loop: { text: 'kindLoop', colour: 'violet', icon: 'M13 8a5 5 0 1 1-1.500-3.500M13 2v3h-3' },
  supervisor: { text: 'kindSupervisor', colour: 'violet', icon: 'M8 2.500v4M3.500 13V9.500h9V13M8 6.500v3' },
  'plan-execute': {
    text: 'kindPlanExecute',
    colour: 'violet',
    icon: 'M2.500 4.500l1.500 1.500L6.500 3M2.500 11l1.500 1.500L6.500 9.500M9 5h4.500M9 11.500h4.500',
  },
  deep: { text: 'kindDeep', colour: 'violet', icon: 'M3 3h10M5 6.500h6M6.500 10h3M8 13v.01' },
  adk: { text: 'kindAdk', colour: 'good', icon: 'M8 2.500 13 5.500v5L8 13.500 3 10.500v-5z' },
  graph: {
    text: 'kindGraph',
    colour: 'warn',
    icon: 'M4 4h.01M12 5h.01M8 12h.01M5 4.500l6 .5M11.500 6 8.500 11.500M4.500 5.500l3 5.500',
  },
  node: { text: 'kindNode', colour: 'plain', icon: 'M8 4.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7z' },
  remote: {
    text: 'kindRemote',
    colour: 'plain',
    icon: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM2.500 8h11M8 2.500c2 2 2 9 0 11M8 2.500c-2 2-2 9 0 11',
  },
  custom: {
    text: 'kindCustom',
    colour: 'plain',
    icon: 'M5.500 4.500 2 8l3.500 3.500M10.500 4.500 14 8l-3.500 3.500',
  },
}

const unknown: KindLook = { text: 'kindCustom', colour: 'plain', icon: looks.custom?.icon ?? '' }

export function kindLook(kind: string): KindLook {
  return looks[kind] ?? unknown
}

export function kindText(kind: string, texts: Texts): string {
  const text = texts[kindLook(kind).text]
  return typeof text === 'string' ? text : kind
}
