import { fromLangGraph } from 'millrace/langgraph'
import { compareTurns } from '../turns/compare-turns.js'
import { wholeServer } from '../turns/conversation.js'
import { leastServer } from '../turns/least-server.js'
import { model, newGraph } from './contestants.js'

/** The graph reads and writes its whole state with every turn: at turn 1,000 that takes a good part of a second. */
export function benchLangGraphTurns(): Promise<string[]> {
  model.pieces = 1
  return compareTurns({
    ...{ name: 'langgraph', isBrought: true, rounds: 5, warmUps: 2 },
    ours: () => wholeServer(fromLangGraph(newGraph(), { name: 'talker' })),
    floor() {
      const graph = newGraph()
      const configurable = { thread_id: 't' }
      let known = 0
      return leastServer(async function* (all) {
        const messages = all.slice(known).map(({ role, content }) => ({ role, content: String(content) }))
        // The answer is added by the graph itself.
        known = all.length + 1
        const stream = await graph.stream({ messages }, { configurable, streamMode: 'messages' })
        for await (const [chunk] of stream) yield chunk.text
      })
    },
  })
}
