import type { Message } from '@ag-ui/core'
import { withAuthor } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { checkId } from '../request/check-input.js'
import { jsonResponse, pageLimit, threadInPath, type Route } from './route.js'
import { readThread } from '../state/thread-state.js'

/**
 * `GET /message_snapshot/{id}`: the history as a MESSAGES_SNAPSHOT event, in pages from the end with `limit`, and the
 * interrupts and client tool calls that are open.
 */
export const messagesRoute: Route = {
  method: 'GET',
  path: '/message_snapshot/:thread',
  optional: 'history',
  async handle(server, request) {
    const thread = await readThread(server, threadInPath(server, request))
    const { messages, interrupts, pendingToolCalls } = thread
    const limit = pageLimit(request)
    const before = request.query('before')
    const end =
      before === undefined ? messages.length : findMessage(messages, checkId(before, 'before', server.limits))
    const start = limit === undefined ? 0 : Math.max(0, end - limit)
    const page = messages.slice(start, end).map(withAuthor)
    const [oldest] = page
    return jsonResponse({
      type: 'MESSAGES_SNAPSHOT',
      messages: page,
      interrupts,
      pendingToolCalls,
      ...(start > 0 && oldest ? { nextBefore: oldest.id } : {}),
    })
  },
}

function findMessage(messages: readonly Message[], id: string): number {
  const index = messages.findIndex((message) => message.id === id)
  if (index === -1) throw new MillraceError('INVALID_INPUT', `before: the thread has no message '${id}'.`)
  return index
}
