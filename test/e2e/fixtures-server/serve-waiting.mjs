// A server whose model never ends, and on which a second run waits: `node serve-waiting.mjs <build>`. Writes its address to its
// output. GET /memory answers with the bytes in use, without garbage.
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const [build] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(build, file)).href)
const { defineAgent } = await load('index.js')
const { scriptedModel } = await load('models/index.js')
const { createServer } = await load('server/index.js')
const { createListener } = await load('server/node.js')

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const never = new Promise(() => undefined)
const agent = defineAgent({
  name: 'talker',
  model: scriptedModel(() => ['Some words.', { wait: () => never }]),
})
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const listener = createListener(
  createServer({ agents: [agent], whenBusy: 'wait', log, limits: { waitMs: 600_000 } }),
)
const http = createHttpServer((request, response) => {
  if (request.url !== '/memory') return listener(request, response)
  collectGarbage()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  response.end(JSON.stringify({ bytes: heapUsed + external + arrayBuffers }))
})
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}`))
