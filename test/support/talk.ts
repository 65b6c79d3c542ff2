import type { Message } from '@ag-ui/core'

/**
 * Messages in short: `u1` user, `a1` assistant, `a2(c1,c2)` assistant with two calls, `t-c1` the result of call c1,
 * `r1` reasoning, `v1` activity, `s1` system, `d1` developer. A star behind it changes its content: `u1*`.
 */
export function talk(text: string): Message[] {
  return text.split(' ').filter(Boolean).map(toMessage)
}

/** The same in reverse, without the stars. */
export function shorthand(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
      return calls.length === 0 ? message.id : `${message.id}(${calls.map(({ id }) => id).join(',')})`
    })
    .join(' ')
}

function toMessage(word: string): Message {
  const [, id = '', calls, star = ''] = /^([\w-]+)(?:\(([\w,]+)\))?(\*?)$/.exec(word) ?? []
  const content = `text of ${id}${star}`
  switch (id[0]) {
    case 'u':
      return { id, role: 'user', content }
    case 's':
      return { id, role: 'system', content }
    case 'd':
      return { id, role: 'developer', content }
    case 'r':
      return { id, role: 'reasoning', content }
    case 'v':
      return { id, role: 'activity', activityType: 'plan', content: {} }
    case 't':
      return { id, role: 'tool', toolCallId: id.slice(2), content }
    case 'a':
      return calls === undefined
        ? { id, role: 'assistant', content }
        : { id, role: 'assistant', content, toolCalls: calls.split(',').map(toCall) }
    default:
      throw new Error(`'${word}' is no message`)
  }
}

function toCall(id: string) {
  return { id, type: 'function' as const, function: { name: `tool_${id}`, arguments: '{}' } }
}
