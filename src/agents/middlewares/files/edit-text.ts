import { toolError } from '../tool-error.js'

export interface Edit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

export interface Edited {
  readonly text: string
  /** How many places have changed. */
  readonly count: number
}

/**
 * Replaces a part of a text: one that is there once, or everywhere with `replaceAll`. Where lines end with CR LF, a part
 * with plain line ends is found too, and what replaces it gets the same ends. Throws TOOL_ERROR when it cannot be done.
 */
export function editText(text: string, edit: Edit): Edited {
  const { oldText, newText, replaceAll = false } = edit
  if (oldText === '') throw toolError('The text to replace is empty. Give the text that is there now.')
  if (oldText === newText) throw toolError('The new text is the same as the old one.')
  const parts = text.split(oldText)
  const count = parts.length - 1
  if (count === 0 && text.includes('\r\n') && !oldText.includes('\r'))
    if (oldText.includes('\n')) return editText(text, withLineEnds(edit))
  if (count === 0)
    throw toolError('The text to replace is not there. It must be the same to the letter, spaces included.')
  if (count > 1 && !replaceAll)
    throw toolError(
      `The text to replace is there ${count} times. Give more of what is around it, or replace all.`,
    )
  return { text: parts.join(newText), count }
}

function withLineEnds({ oldText, newText, ...edit }: Edit): Edit {
  return { ...edit, oldText: oldText.replaceAll('\n', '\r\n'), newText: newText.replaceAll(/\r?\n/g, '\r\n') }
}
