import { connections, headOf, input, post, repeat, send, type Attack } from './attack.js'

export type AbuseName = keyof typeof abuses

const run = '/agents/hello/run'

/** The abuses, each from one address and by one user. Each goes on until its time is over. */
export const abuses = {
  'bare connections': (attack) => connections(attack, { head: '', drop: '' }),
  'headers byte by byte': (attack) =>
    connections(attack, { head: 'POST /run HTTP/1.1\r\nhost: 127.0.0.1\r\n', drop: 'x: y\r\n' }),
  'bodies byte by byte': (attack) => connections(attack, { head: headOf(attack, run, 5_000_000), drop: ' ' }),
  'streams that nobody reads': (attack) => {
    const body = JSON.stringify(input())
    return connections(attack, {
      head: headOf(attack, '/agents/burst/run', body.length) + body,
      drop: '',
      isDeaf: true,
    })
  },
  'streams that never end': (attack) => repeat(attack, 60, () => post(attack, '/agents/idle/run', input())),
  reconnects: async (attack) => {
    void post(attack, '/agents/idle/run', input({ threadId: 'one' }))
    const hangUp = { hangsUp: true }
    await repeat(attack, 20, () => post(attack, '/agents/idle/connect', { threadId: 'one' }, hangUp))
  },
  'waiting for a busy thread': (attack) =>
    repeat(attack, 60, () => post(attack, '/agents/idle/run', input({ threadId: 'busy' }))),
  'short runs': (attack) => repeat(attack, 50, () => post(attack, run, input())),
  'guessed tokens': (attack) =>
    repeat(attack, 50, () => send(attack, { method: 'GET', path: '/thread/list', user: undefined })),
  'bodies that are too large': (attack) => {
    const large = JSON.stringify(input({ forwardedProps: { text: 'x'.repeat(8_000_000) } }))
    return repeat(attack, 8, () => post(attack, run, large))
  },
  'bodies as large as may be': (attack) => {
    const content = 'This is one of very many messages of a conversation.'
    const messages = Array.from({ length: 9_999 }, (_, n) => ({ id: `${n}`, role: 'user', content }))
    const large = JSON.stringify(input({ messages }))
    return repeat(attack, 8, () => post(attack, run, large))
  },
  'deep JSON': (attack) => {
    const deep = '['.repeat(1_000_000)
    return repeat(attack, 8, () => post(attack, run, deep))
  },
  'malformed requests': (attack) => {
    const wrong = [{}, null, [], 'x', { threadId: 1 }, input({ messages: 5 }), input({ threadId: '..' })]
    const bodies = ['', '{', '\u0000', ...wrong.map((value) => JSON.stringify(value))]
    let n = 0
    return repeat(attack, 50, () => post(attack, run, bodies[n++ % bodies.length] ?? ''))
  },
  'unlucky patterns': (attack) => {
    const messages = [{ id: 'question', role: 'user', content: `${'a'.repeat(50_000)}!` }]
    return repeat(attack, 20, () => post(attack, '/agents/pattern/run', input({ messages })))
  },
  'small patches on a large state': async (attack) => {
    const rows = Array.from({ length: 15_000 }, (_, n) => ({ id: n, text: 'a row of the table' }))
    await post(attack, run, input({ threadId: 'table', state: { rows } }))
    const patch = [{ op: 'replace', path: '/rows/7/id', value: 1 }]
    await repeat(attack, 8, () => post(attack, '/agents/hello/state/table', patch, { method: 'PATCH' }))
  },
} satisfies Record<string, (attack: Attack) => Promise<void>>
