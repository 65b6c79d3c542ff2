/**
 * The CopilotKit runtime in front of a Millrace server: `node copilotkit-runtime.mjs <server> <agent>...`.
 * `/v1` is the endpoint of the first generation, with the AG-UI client that CopilotKit brings; `/v2` that of the second,
 * with the newest AG-UI client. Prints its address when it listens.
 */
import { createServer } from 'node:http'
import { HttpAgent } from '@ag-ui/client'
import { CopilotRuntime, copilotRuntimeNodeHttpEndpoint, ExperimentalEmptyAdapter } from '@copilotkit/runtime'
import { CopilotRuntime as RuntimeV2 } from '@copilotkit/runtime/v2'
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node'
import { HttpAgent as NewestHttpAgent } from 'ag-ui-client-1.0.0'

const [server, ...names] = process.argv.slice(2)
const agentsOf = (Client) =>
  Object.fromEntries(names.map((name) => [name, new Client({ url: `${server}/agents/${name}/run` })]))

const v1 = copilotRuntimeNodeHttpEndpoint({
  runtime: new CopilotRuntime({ agents: agentsOf(HttpAgent) }),
  serviceAdapter: new ExperimentalEmptyAdapter(),
  endpoint: '/v1',
})
const v2 = createCopilotNodeListener({
  runtime: new RuntimeV2({ agents: agentsOf(NewestHttpAgent) }),
  basePath: '/v2',
  cors: true,
})

const http = createServer((request, response) => (request.url.startsWith('/v2') ? v2 : v1)(request, response))
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}`))
