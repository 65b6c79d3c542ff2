/** A graph that sends events of the application: a chart, while the graph is running. */
import assert from 'node:assert/strict'
import { AIMessage } from '@langchain/core/messages'
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { run } from 'millrace'
import { createEmitter, emitState, fromLangGraph } from 'millrace/langgraph'

/** The application's events, by name. */
interface Events {
  display_chart: { readonly kind: 'line' | 'bar'; readonly points: readonly number[] }
}

const emit = createEmitter<Events>()

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  progress: Annotation<number>,
  points: Annotation<number[]>,
})

const graph = new StateGraph(State)
  .addNode('measure', async () => {
    const points: number[] = []
    for (const point of [3, 5, 8]) {
      points.push(point)
      // The client gets it now; the graph when the node is done.
      await emitState({ progress: points.length / 3 })
    }
    return { points, progress: 1 }
  })
  .addNode('draw', ({ points }) => {
    void emit('display_chart', { kind: 'line', points })
    return { messages: [new AIMessage(`Here are ${points.length} points.`)] }
  })
  .addEdge(START, 'measure')
  .addEdge('measure', 'draw')
  .compile()

const charts: unknown[] = []
let states = 0
const running = run(fromLangGraph(graph, { name: 'analyst' }), 'Show me the numbers.')
for await (const event of running) {
  if (event.type === 'CUSTOM') charts.push({ name: event.name, value: event.value as unknown })
  if (event.type.startsWith('STATE_')) states++
}
const outcome = await running.result

console.log('charts:', JSON.stringify(charts), 'state:', JSON.stringify(outcome.state))
assert.deepEqual(charts, [{ name: 'display_chart', value: { kind: 'line', points: [3, 5, 8] } }])
assert.deepEqual(outcome.state, { points: [3, 5, 8], progress: 1 })
assert.ok(states > 2, 'the progress was shown while the node was at work')
assert.equal(outcome.type === 'completed' && outcome.text, 'Here are 3 points.')
