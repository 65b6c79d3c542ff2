/**
 * Serves the agents of all pages until it is stopped: `node examples/dist/dojo/start.js`. `PORT` (8000) is its port, `ORIGIN` the
 * origin of the pages, if they come from elsewhere.
 */
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { agents } from './agents.js'

const { PORT = '8000', ORIGIN: origin } = process.env
const cors = origin === undefined ? {} : { cors: { origins: [origin] } }
const { url } = await serve(createServer({ agents, copilotKit: true, ...cors }), { port: Number(PORT) })
console.log(`The Dojo's agents are at ${url}/agents, for CopilotKit at ${url}/copilotkit`)
