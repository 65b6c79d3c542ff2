import { expect, it } from 'vitest'
import { expectRefusal, fetchServer } from '../../test/support/fetch-server.js'
import { defineAgent } from '../agents/index.js'
import { scriptedModel } from '../models/index.js'

const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })

it.each([5, 'ann', true, [], {}, { user: 5 }, { user: null }, { user: 'ann', app: 5 }])(
  'an identify function that gives %j is a fault of the server, and logged',
  async (given) => {
    const made = fetchServer({ agents: [agent], identify: () => given as never })
    expectRefusal(await made.ask('GET /thread/list'), 500, 'INTERNAL_ERROR')
    expect(made.logText()).toContain('What `identify` gives')
  },
)

it.each([undefined, null])('an identify function that gives %j does not know who asks', async (given) => {
  const made = fetchServer({ agents: [agent], identify: () => given as never })
  expectRefusal(await made.ask('GET /thread/list'), 401, 'UNAUTHENTICATED')
})

it('a name that cannot be stored is refused: it may come from the request', async () => {
  const made = fetchServer({ agents: [agent], identify: () => ({ user: 'a\u0000b' }) })
  expectRefusal(await made.ask('GET /thread/list'), 400, 'INVALID_INPUT')
})
