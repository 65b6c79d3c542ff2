import type { InvocationContext } from '@google/adk'
import type { Content, Part } from '../adk-types.js'

type Session = Pick<InvocationContext, 'session' | 'branch' | 'isolationScope'>

/**
 * A conversation that the user begins: Gemini takes a model's turn only behind one. One that begins with the model, as
 * that of a workflow node which goes on after a pause does, gets the newest text of the user before it in front.
 */
export function userFirst(contents: readonly Content[], context: Session): readonly Content[] {
  const [first] = contents
  if (first?.role !== 'model') return contents
  const parts = newestText(first, context) ?? [{ text: 'Begin.' }]
  return [{ role: 'user', parts }, ...contents]
}

function newestText(first: Content, { session, branch, isolationScope }: Session): Part[] | undefined {
  const { events } = session
  const begin = events.findLastIndex(({ content }) => content !== undefined && isSame(content, first))
  for (const event of events.slice(0, begin < 0 ? undefined : begin).reverse()) {
    const isSeen =
      isWithin(branch, event.branch) && (event.isolationScope ?? isolationScope) === isolationScope
    const parts = event.author === 'user' && isSeen ? textOf(event.content) : undefined
    if (parts) return parts
  }
  return undefined
}

/** Whether a content of the session is the one a request was made of: ids that ADK made are not in requests. */
function isSame(stored: Content, sent: Content): boolean {
  return (
    stored.role === sent.role &&
    stored.parts?.length === sent.parts?.length &&
    (stored.parts ?? []).every((part, index) => {
      const other = sent.parts?.[index]
      const isCall = part.functionCall?.name === other?.functionCall?.name
      const hasId = part.functionCall?.id === (other?.functionCall?.id ?? part.functionCall?.id)
      return part.text === other?.text && isCall && hasId
    })
  )
}

/** Whether what was said on a branch is heard on another: on itself and on those that come out of it. */
function isWithin(branch: string | undefined, of: string | undefined): boolean {
  return of === undefined || of === branch || (branch?.startsWith(`${of}.`) ?? false)
}

function textOf(content: Content | undefined): Part[] | undefined {
  const parts = (content?.parts ?? []).flatMap(({ text }) => (text ? [{ text }] : []))
  return parts.length > 0 ? parts : undefined
}
