import { describe, expect, it, test } from 'vitest'
import { expectRefusal, fetchServer } from '../../../test/support/fetch-server.js'
import { defineAgent } from '../../agents/index.js'
import { scriptedModel } from '../../models/index.js'
import { isLoopbackHost } from './identity.js'

const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })

describe('identify', () => {
  it.each([5, 'ann', true, [], {}, { user: 5 }, { user: null }, { user: 'ann', app: 5 }])(
    'that returns %j is a fault of the server, and logged',
    async (given) => {
      const made = fetchServer({ agents: [agent], identify: () => given as never })
      expectRefusal(await made.ask('GET /thread/list'), 500, 'INTERNAL_ERROR')
      expect(made.logText()).toContain('`identify` must return')
    },
  )

  it.each([undefined, null])('that returns %j refuses the request', async (given) => {
    const made = fetchServer({ agents: [agent], identify: () => given as never })
    expectRefusal(await made.ask('GET /thread/list'), 401, 'UNAUTHENTICATED')
  })

  it('that returns an id which cannot be stored refuses the request: the id may come from there', async () => {
    const made = fetchServer({ agents: [agent], identify: () => ({ user: 'a\u0000b' }) })
    expectRefusal(await made.ask('GET /thread/list'), 400, 'INVALID_INPUT')
  })
})

describe('isLoopbackHost', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost:3000',
    'localhost.:3000',
    'localhost:',
    'app.localhost',
    'a-1.b_2.localhost:80',
    '127.0.0.1',
    '127.0.0.1:65535',
    '127.0.0.1.',
    '127.255.255.254',
    '127.10.99.200:8080',
    '[::1]',
    '[::1]:3000',
    '::1',
  ])('%s is this machine', (host) => {
    expect(isLoopbackHost(host)).toBe(true)
  })

  test.each([
    null,
    undefined,
    '',
    ':3000',
    '.localhost',
    'a..localhost',
    'localhost..',
    'localhost.evil.com',
    'evil.com',
    'notlocalhost',
    'localhost@evil.com',
    'user@localhost',
    'evil.com:80@localhost',
    'localhost:80@evil.com',
    'localhost:80:80',
    'localhost:http',
    'localhost:1234567',
    'localhost/evil',
    'localhost#evil.com',
    'localhost?x',
    'localhost\\evil.com',
    'localhost evil.com',
    ' localhost',
    'localhost\n',
    'evil.com\nlocalhost',
    'localhost, evil.com',
    'http://localhost',
    '127.0.0.1.evil.com',
    '127.0.0.1.nip.io',
    '127.0.0.256',
    '127.0.0.01',
    '127.0.0.0x1',
    '127.1',
    '127.0.0.1.1',
    '0127.0.0.1',
    '1127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0.0.0.0',
    '0',
    '128.0.0.1',
    '192.168.0.1',
    '[::]',
    '::',
    '[::1',
    '::1]',
    '::1:3000',
    '[::1%25lo]',
    '[::1].evil.com',
    '[::2]',
    '[127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[fe80::1]',
    'ⓛocalhost',
    'localhoſt',
  ])('%j is not surely this machine', (host) => {
    expect(isLoopbackHost(host)).toBe(false)
  })

  test('takes no longer for a long host', () => {
    expect(isLoopbackHost(`${'a.'.repeat(100_000)}x`)).toBe(false)
    expect(isLoopbackHost('a-'.repeat(100_000))).toBe(false)
  })
})
