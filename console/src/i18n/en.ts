/** The words of the console. `zh.ts` has the same keys. */
export const en = {
  name: 'English',
  chat: 'Chat',
  runs: 'Runs',
  agents: 'Agents',
  inspect: 'Inspector',
  menu: 'Menu',
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  retry: 'Try again',
  loading: 'Loading …',
  theme: 'Colours',
  themeAuto: 'As the system',
  themeLight: 'Light',
  themeDark: 'Dark',
  language: 'Language',

  tokenTitle: 'This server asks who you are',
  tokenHelp:
    'Paste the token that the server has printed or that its operator has given you. It stays in this tab.',
  token: 'Token',
  signIn: 'Sign in',
  unreachable: 'The server cannot be reached.',

  newThread: 'New thread',
  threads: 'Threads',
  searchThreads: 'Search threads',
  noThreads: 'Threads that you start are listed here.',
  nothingFound: 'Nothing found.',
  rename: 'Rename',
  remove: 'Delete',
  removeSure: (title: string) => `Delete “${title}”? It cannot be brought back.`,
  more: 'More',
  agent: 'Agent',

  you: 'You',
  message: 'Message',
  writeMessage: (agent: string) => `Write to ${agent}`,
  send: 'Send',
  stop: 'Stop',
  tryThis: 'Try this',
  statusRunning: 'at work',
  statusInterrupted: 'asks you',
  statusWaiting: 'waits for this page',
  connectionLost: 'The connection is lost. Trying again …',
  connectionBack: 'Connected again. Nothing is missing.',
} as const satisfies Record<string, string | ((...args: never[]) => string)>

type Entry<T> = T extends (...args: infer A) => string ? (...args: A) => string : string

/** Every language has these. */
export type Texts = { readonly [K in keyof typeof en]: Entry<(typeof en)[K]> }
