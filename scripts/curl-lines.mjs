// Inside the shell's single quotes: a new id each time the line is used.
const now = "'$(date +%s)'"

const howToAnswer =
  '# its last event has the interrupt; answer with the id in outcome.interrupts, now or after a restart'
const answer = { interruptId: 'INTERRUPT_ID', status: 'resolved', payload: { approved: true } }

/** What to try without a browser: `npm start -- --curl`. */
export function curlLines({ url, agents, token }) {
  const header = token === undefined ? '' : ` -H 'authorization: Bearer ${token}'`
  const get = (path) => `curl ${url}${path}${header}`
  const post = (agent, fields) => postLine(`${url}/agents/${agent}/run${header}`, fields)
  const tries = agents.flatMap(({ name, description, examples: [prompt] }) => [
    `# ${name}: ${description}`,
    post(name, { messages: [{ id: now, role: 'user', content: prompt }] }),
    ...(name === 'approval' ? [howToAnswer, post(name, { messages: [], resume: [answer] })] : []),
    '',
  ])
  return [
    `In another terminal, try (${agents[0].name} answers at ${url}/ too):\n`,
    ...tries,
    '# all agents with more to ask them; the threads of one; the state of a thread',
    get('/agents'),
    get('/agents/chat/thread/list'),
    get('/agents/shared-state/state_snapshot/demo'),
  ].join('\n')
}

function postLine(address, fields) {
  const body = JSON.stringify({ protocolVersion: '1.0', threadId: 'demo', runId: now, ...fields })
  return `curl -N ${address} -H 'content-type: application/json' -d '${body}'`
}
