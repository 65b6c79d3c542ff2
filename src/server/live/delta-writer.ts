import type { AgUiEvent } from '../../protocol/index.js'

/**
 * Writes plain text deltas as JSON, the same JSON at half the cost: of one delta and the next, only the text differs. Gives
 * nothing for any other event.
 */
export class DeltaWriter {
  #type = ''
  #messageId = ''
  #head = ''

  write(event: AgUiEvent): string | undefined {
    if (event.type !== 'TEXT_MESSAGE_CONTENT' && event.type !== 'REASONING_MESSAGE_CONTENT') return undefined
    if (!isPlain(event)) return undefined
    const { type, messageId, delta } = event
    if (messageId !== this.#messageId || type !== this.#type) {
      this.#type = type
      this.#messageId = messageId
      this.#head = `{"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`
    }
    return `${this.#head}${JSON.stringify(delta)}}`
  }
}

/** Whether it has these three members and no other, in this order. */
function isPlain(event: object): boolean {
  let n = 0
  for (const name in event) if (name !== names[n++]) return false
  return n === names.length
}

const names = ['type', 'messageId', 'delta']
