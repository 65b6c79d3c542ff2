import { enforceOutgoingInput } from '@ag-ui/client'
import { omitOptionalNulls, type RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { json, runInput } from '../../test/e2e/support-arbitraries.js'
import { MillraceError } from '../core/errors.js'
import { parseRunInput } from './parse-run-input.js'
import { propertyRuns } from '../../test/support/property-runs.js'

const minimal = { threadId: 't', runId: 'r', messages: [] }
const defaults = { state: {}, tools: [], context: [], resume: [] }

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a run input', () => {
  it('gets its defaults', () => {
    expect(parseRunInput(minimal)).toEqual({
      input: { ...minimal, ...defaults },
      peer: { legacy: true },
      warnings: [],
    })
  })

  it('survives unchanged when it is valid', () => {
    fc.assert(
      fc.property(runInput, (body) => {
        const before = structuredClone(body)
        const { input, warnings } = parseRunInput(body)
        expect(input).toEqual({ ...defaults, ...body })
        expect(warnings).toEqual([])
        expect(body).toEqual(before)
      }),
    )
  })

  it('is generated as the schema of the protocol wants it', () => {
    fc.assert(fc.property(runInput, (body) => RunAgentInputSchema.safeParse(body).success))
  })

  it('is read or refused, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.oneof(json, runInputWith(json)), (body) => {
        try {
          parseRunInput(body)
        } catch (error) {
          expect(MillraceError.isInstance(error)).toBe(true)
          expect(error).toHaveProperty(
            'code',
            expect.stringMatching(/^(INVALID_INPUT|UNSUPPORTED_PROTOCOL)$/),
          )
        }
      }),
    )
  })

  it('is read as the reference client would correct it before sending', () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const junk = fc.constantFrom(null, 0, 'x', true, [], [null])
    fc.assert(
      fc.property(runInputWith(junk), (body) => {
        const reference = outcome(() => enforceOutgoingInput(body as RunAgentInput))
        const ours = outcome(() => parseRunInput(body).input)
        expect(ours).toEqual(reference && { ...defaults, ...reference })
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('keeps data the protocol leaves open, nulls and odd names included', () => {
    const open = { a: null, b: [null], ['__proto__']: { c: null }, toString: null }
    const body = {
      ...minimal,
      state: open,
      forwardedProps: open,
      resume: [{ interruptId: 'i', status: 'resolved', payload: open, metadata: open }],
      tools: [{ name: 'f', description: 'd', parameters: open, metadata: open }],
      messages: [
        { id: 'u', role: 'user', content: [{ type: 'text', text: '', metadata: open }], metadata: open },
      ],
    }
    const { input, warnings } = parseRunInput(body)
    expect(input).toEqual({ ...body, context: [] })
    expect(input.state).toBe(open)
    expect(warnings).toEqual([])
  })

  it('accepts any JSON value as state', () => {
    for (const state of [0, '', false, [], 'x'])
      expect(parseRunInput({ ...minimal, state }).input.state).toBe(state)
  })

  it('takes members with the value undefined as absent', () => {
    const { input, warnings } = parseRunInput({ ...minimal, parentRunId: undefined, tools: undefined })
    expect(Object.keys(input)).not.toContain('parentRunId')
    expect(input.tools).toEqual([])
    expect(warnings).toEqual([])
  })
})

describe('the version of a client', () => {
  it.each(['1.0', '1.7', '1.99'])('%s is served', (protocolVersion) => {
    const { input, peer } = parseRunInput({ ...minimal, protocolVersion })
    expect(peer).toEqual({ protocolVersion, legacy: false })
    expect(input.protocolVersion).toBe(protocolVersion)
  })

  it.each(['1.0.0', '1', 'draft', 'v2', ''])('"%s" is served as a newer one, with a warning', (declared) => {
    const { peer, warnings } = parseRunInput({ ...minimal, protocolVersion: declared })
    expect(peer).toEqual({ protocolVersion: declared, legacy: false })
    const message = `expected a version such as "1.0", got "${declared}"; served as 1.0`
    expect(warnings).toEqual([{ field: 'protocolVersion', message }])
  })

  it.each(['2.0', '0.9', '10.0', '2', '2.0.0'])(
    '%s is refused before anything else is looked at',
    (protocolVersion) => {
      expect(() => parseRunInput({ protocolVersion })).toThrow(
        expect.objectContaining({
          code: 'UNSUPPORTED_PROTOCOL',
          status: 400,
          message: `The client speaks protocol "${protocolVersion}"; this server speaks 1.0.`,
        }),
      )
    },
  )

  it('is that of a legacy client when there is none', () => {
    expect(parseRunInput({ ...minimal, protocolVersion: null }).peer).toEqual({ legacy: true })
  })
})

/** The result, or undefined when the call throws. */
function outcome<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

/**
 * Valid inputs in which one value, at any place, has been replaced. The members that tell a union apart stay: where
 * they are malformed the reference drops and we refuse.
 */
function runInputWith(replacement: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(runInput, fc.nat(), replacement).map(([input, place, value]) => {
    const copy: unknown = structuredClone(input)
    const places: [Record<string, unknown>, string][] = []
    collect(copy, places)
    const [target, key] = places[place % places.length] ?? []
    if (target && key !== undefined) target[key] = value
    return copy
  })
}

function collect(value: unknown, places: [Record<string, unknown>, string][]): void {
  if (typeof value !== 'object' || value === null) return
  // An array is a record of its indices here.
  const record = value as Record<string, unknown>
  for (const key of Object.keys(record)) {
    if (['__proto__', 'role', 'type', 'protocolVersion'].includes(key)) continue
    places.push([record, key])
    collect(record[key], places)
  }
}

describe('unknown members', () => {
  const minimal = { threadId: 't', runId: 'r', messages: [] }
  const defaults = { state: {}, tools: [], context: [], resume: [] }
  const user = (content: unknown) => ({ id: 'u', role: 'user', content })
  const image = { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const assistant = (members: object) => ({ id: 'a', role: 'assistant', ...members })
  const inMessages = (...messages: unknown[]) => ({ ...minimal, messages })

  describe('what the protocol does not know', () => {
    const unknownSource = { type: 'image', source: { type: 's3', value: 'x' } }
    const member = 'unknown member, dropped'
    it.each([
      { field: 'extra', message: member, body: { ...minimal, extra: 1 } },
      { field: 'toString', message: member, body: { ...minimal, toString: 'x' } },
      { field: 'constructor', message: member, body: { ...minimal, constructor: {} } },
      { field: '__proto__', message: member, body: { ...minimal, ['__proto__']: { state: 1 } } },
      { field: '["a b"]', message: member, body: { ...minimal, 'a b': 1 } },
      { field: '["x\\ny"]', message: member, body: { ...minimal, 'x\ny': 1 } },
      {
        field: 'messages[0].toolCalls[0].function.extra',
        message: member,
        body: inMessages(assistant({ toolCalls: [{ ...call, function: { ...call.function, extra: 1 } }] })),
        kept: inMessages(assistant({ toolCalls: [call] })),
      },
      {
        field: 'messages[1]',
        message: 'unknown role "wizard", dropped',
        body: inMessages(user('x'), { id: 'w', role: 'wizard', spell: {} }),
        kept: inMessages(user('x')),
      },
      {
        field: 'messages[0]',
        message: 'unknown role "toString", dropped',
        body: inMessages({ role: 'toString' }),
      },
      {
        field: 'messages[0].content[0]',
        message: 'unknown type "hologram", dropped',
        body: inMessages(user([{ type: 'hologram' }, image])),
        kept: inMessages(user([image])),
      },
      {
        field: 'messages[0].content[1]',
        message: 'source has unknown type "s3", dropped',
        body: inMessages(user([image, { ...unknownSource, id: 5, extra: 1 }])),
        kept: inMessages(user([image])),
      },
    ])('is dropped with a warning: $field', ({ field, message, body, kept = minimal }) => {
      const { input, warnings } = parseRunInput(body)
      expect(warnings).toEqual([{ field, message }])
      expect(input).toEqual({ ...defaults, ...kept })
      expect(Object.keys(input).sort()).toEqual(Object.keys({ ...defaults, ...kept }).sort())
    })

    it('is summed up when there is very much of it', () => {
      const extra = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x${index}`, index]))
      const { warnings } = parseRunInput({ ...minimal, ...extra })
      expect(warnings).toHaveLength(100)
      expect(warnings.at(-1)).toEqual({ field: '(body)', message: '51 more warnings left out' })
    })
  })
})

describe('nulls of optional fields', () => {
  const minimal = { threadId: 't', runId: 'r', messages: [] }
  const defaults = { state: {}, tools: [], context: [], resume: [] }
  const user = (content: unknown) => ({ id: 'u', role: 'user', content })
  const image = { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const assistant = (members: object) => ({ id: 'a', role: 'assistant', ...members })
  const inMessages = (...messages: unknown[]) => ({ ...minimal, messages })

  describe('a null of an optional field', () => {
    it.each([
      ['parentRunId', { ...minimal, parentRunId: null }],
      ['protocolVersion', { ...minimal, protocolVersion: null }],
      ['state', { ...minimal, state: null }],
      ['tools', { ...minimal, tools: null }],
      ['context', { ...minimal, context: null }],
      ['forwardedProps', { ...minimal, forwardedProps: null }],
      ['resume', { ...minimal, resume: null }],
      [
        'resume[0].payload',
        { ...minimal, resume: [{ interruptId: 'i', status: 'resolved', payload: null }] },
      ],
      [
        'resume[0].metadata',
        { ...minimal, resume: [{ interruptId: 'i', status: 'cancelled', metadata: null }] },
      ],
      ['tools[0].parameters', { ...minimal, tools: [{ name: 'f', description: 'd', parameters: null }] }],
      ['tools[0].metadata', { ...minimal, tools: [{ name: 'f', description: 'd', metadata: null }] }],
      ['messages[0].content', inMessages(assistant({ content: null, toolCalls: [call] }))],
      ['messages[0].toolCalls', inMessages(assistant({ content: 'x', toolCalls: null }))],
      [
        'messages[0].toolCalls[0].metadata',
        inMessages(assistant({ toolCalls: [{ ...call, metadata: null }] })),
      ],
      [
        'messages[0].toolCalls[0].encryptedValue',
        inMessages(assistant({ toolCalls: [{ ...call, encryptedValue: null }] })),
      ],
      ['messages[0].name', inMessages({ ...user('x'), name: null })],
      ['messages[0].subagentRunId', inMessages({ ...user('x'), subagentRunId: null })],
      ['messages[0].encryptedValue', inMessages({ ...user('x'), encryptedValue: null })],
      ['messages[0].metadata', inMessages({ ...user('x'), metadata: null })],
      ['messages[0].error', inMessages({ id: 'x', role: 'tool', toolCallId: 'c', content: '', error: null })],
      ['messages[0].content[0].id', inMessages(user([{ type: 'text', text: 'x', id: null }]))],
      ['messages[0].content[0].metadata', inMessages(user([{ ...image, metadata: null }]))],
      [
        'messages[0].content[0].source.mimeType',
        inMessages(user([{ type: 'image', source: { type: 'url', value: 'https://x', mimeType: null } }])),
      ],
      [
        'messages[0].content[0].source.provider',
        inMessages(user([{ type: 'image', source: { type: 'file', value: 'f', provider: null } }])),
      ],
    ])('is read as absent: %s', (field, body) => {
      const { input, warnings } = parseRunInput(body)
      expect(warnings).toEqual([{ field, message: 'null, read as absent' }])
      expect(input).toEqual({ ...defaults, ...omitOptionalNulls(body, 'RunAgentInput') })
    })
  })
})

describe('malformed fields', () => {
  const minimal = { threadId: 't', runId: 'r', messages: [] }
  const user = (content: unknown) => ({ id: 'u', role: 'user', content })
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const assistant = (members: object) => ({ id: 'a', role: 'assistant', ...members })
  const inMessages = (...messages: unknown[]) => ({ ...minimal, messages })

  describe('a malformed field', () => {
    const text = (value: unknown) => ({ type: 'text', text: value })
    it.each([
      ['(body)', 'expected object, got null', null],
      ['(body)', 'expected object, got array', []],
      ['(body)', 'expected object, got string', '{}'],
      ['(body)', 'expected object, got nothing', undefined],
      ['threadId', 'expected string, got nothing', { runId: 'r', messages: [] }],
      ['threadId', 'expected string, got null', { ...minimal, threadId: null }],
      ['runId', 'expected string, got number', { ...minimal, runId: 7 }],
      ['messages', 'expected array, got nothing', { threadId: 't', runId: 'r' }],
      ['messages', 'expected array, got null', { ...minimal, messages: null }],
      ['messages', 'expected array, got string', { ...minimal, messages: 'hello' }],
      ['messages[1]', 'expected object, got null', inMessages(user('x'), null)],
      ['messages[0].role', 'expected string, got nothing', inMessages({ id: 'x', content: 'x' })],
      ['messages[0].role', 'expected string, got number', inMessages({ id: 'x', role: 1 })],
      ['messages[0].id', 'expected string, got nothing', inMessages({ role: 'user', content: 'x' })],
      ['messages[0].content', 'expected string or array, got number', inMessages(user(5))],
      ['messages[0].content', 'expected string or array, got null', inMessages(user(null))],
      ['messages[0].content', 'expected string, got array', inMessages(assistant({ content: [] }))],
      [
        'messages[0].content[1].text',
        'expected string, got boolean',
        inMessages(user([text('x'), text(true)])),
      ],
      ['messages[0].content[0].type', 'expected string, got nothing', inMessages(user([{ text: 'x' }]))],
      [
        'messages[0].content[0].source',
        'expected object, got nothing',
        inMessages(user([{ type: 'image' }])),
      ],
      [
        'messages[0].content[0].source.mimeType',
        'expected string, got nothing',
        inMessages(user([{ type: 'image', source: { type: 'data', value: 'x' } }])),
      ],
      [
        'messages[2].toolCalls[0].function.arguments',
        'expected string, got number',
        inMessages(
          { id: 'x', role: 'activity' },
          { id: 'x', role: 'wizard' },
          assistant({ toolCalls: [{ ...call, function: { name: 'f', arguments: 5 } }] }),
        ),
      ],
      [
        'messages[0].toolCalls[0].type',
        'expected "function", got "tool"',
        inMessages(assistant({ toolCalls: [{ ...call, type: 'tool' }] })),
      ],
      ['messages[0].metadata', 'expected object, got array', inMessages({ ...user('x'), metadata: [] })],
      ['tools', 'expected array, got object', { ...minimal, tools: {} }],
      ['tools[0]', 'expected object, got string', { ...minimal, tools: ['f'] }],
      ['tools[0].description', 'expected string, got nothing', { ...minimal, tools: [{ name: 'f' }] }],
      [
        'context[0].value',
        'expected string, got object',
        { ...minimal, context: [{ description: 'd', value: {} }] },
      ],
      [
        'resume[0].status',
        'expected "resolved" or "cancelled", got "done"',
        { ...minimal, resume: [{ interruptId: 'i', status: 'done' }] },
      ],
      ['protocolVersion', 'expected string, got number', { ...minimal, protocolVersion: 1 }],
    ])('is refused by name: %s %s', (field, message, body) => {
      const error = refusal(body)
      expect(error).toMatchObject({ code: 'INVALID_INPUT', status: 400, message: `${field}: ${message}` })
      expect(error.details).toEqual({ field, issues: [{ field, message }] })
    })

    it('is listed with the others', () => {
      const { message, details } = refusal({ threadId: 1, runId: 2, messages: [user(3)] })
      expect(message).toBe('threadId: expected string, got number')
      expect(details.issues).toEqual([
        { field: 'threadId', message: 'expected string, got number' },
        { field: 'runId', message: 'expected string, got number' },
        { field: 'messages[0].content', message: 'expected string or array, got number' },
      ])
    })

    it('is listed up to the twentieth, however many there are', () => {
      const { details } = refusal({ ...minimal, messages: new Array(300_000).fill(1) })
      expect(details.issues).toHaveLength(20)
    })

    it('is cut when it is long, so that an error stays readable', () => {
      expect(refusal({ ...minimal, protocolVersion: `2.${'0'.repeat(1e6)}` }).message.length).toBeLessThan(
        150,
      )
    })
  })

  function refusal(body: unknown): MillraceError {
    try {
      parseRunInput(body)
    } catch (error) {
      if (MillraceError.isInstance(error)) return error
      throw error
    }
    throw new Error('the input was accepted')
  }
})

describe('messages of older clients', () => {
  const parse = (...content: unknown[]) => {
    const body = { threadId: 't', runId: 'r', messages: [{ id: 'u', role: 'user', content }] }
    const before = structuredClone(body)
    const { input, warnings } = parseRunInput(body)
    expect(body).toEqual(before)
    const [message] = input.messages
    return { content: message?.content, warnings }
  }

  const binary = (members: object) => ({ type: 'binary', ...members })
  const data = (mimeType: string) => ({ type: 'data', value: 'AAAA', mimeType })
  const at = (part: number, message: string) => ({ field: `messages[0].content[${part}]`, message })

  describe('a binary part of a client before 1.0', () => {
    it.each([
      ['image/png', 'image'],
      ['Audio/wav', 'audio'],
      ['video/mp4', 'video'],
      ['application/pdf', 'document'],
      ['image', 'image'],
      ['', 'document'],
    ])('of type %s becomes a part of kind %s', (mimeType, type) => {
      const { content, warnings } = parse(binary({ mimeType, data: 'AAAA' }))
      expect(content).toEqual([{ type, source: data(mimeType) }])
      expect(warnings).toEqual([at(0, `legacy binary part, read as ${type}`)])
    })

    it('keeps its file name as metadata', () => {
      const { content } = parse(binary({ mimeType: 'image/png', data: 'AAAA', filename: 'a.png' }))
      expect(content).toEqual([{ type: 'image', source: data('image/png'), metadata: { filename: 'a.png' } }])
    })

    it('may point to its bytes by URL', () => {
      const { content } = parse(binary({ mimeType: 'image/png', url: 'https://x.test/a' }))
      expect(content).toEqual([
        { type: 'image', source: { type: 'url', value: 'https://x.test/a', mimeType: 'image/png' } },
      ])
    })

    it('is read from its bytes when it has both', () => {
      const { content } = parse(
        binary({ mimeType: 'image/png', data: 'AAAA', url: 'https://x.test/a', id: 'f' }),
      )
      expect(content).toEqual([{ type: 'image', source: data('image/png') }])
    })

    it.each([
      { mimeType: 'image/png', id: 'f1' },
      { data: 'AAAA' },
      { mimeType: 5, data: 'AAAA' },
      { mimeType: 'a/b', data: 5 },
    ])('cannot be carried and is dropped: %j', (members) => {
      const { content, warnings } = parse(binary(members), { type: 'text', text: 'x' })
      expect(content).toEqual([{ type: 'text', text: 'x' }])
      expect(warnings).toEqual([at(0, 'legacy binary part without a mimeType and data or url, dropped')])
    })

    it('is skipped when a modern part carries the same', () => {
      const modern = { type: 'image', source: data('image/png'), metadata: { filename: 'a.png', alt: 'x' } }
      const { content, warnings } = parse(
        binary({ mimeType: 'image/png', data: 'AAAA', filename: 'a.png' }),
        modern,
        binary({ mimeType: 'image/png', data: 'AAAA' }),
      )
      expect(content).toEqual([modern])
      expect(warnings).toEqual([
        at(0, 'legacy binary part that repeats another part, dropped'),
        at(2, 'legacy binary part that repeats another part, dropped'),
      ])
    })

    it.each([
      { type: 'image', source: data('image/png') },
      { type: 'image', source: data('image/png'), metadata: { filename: 'b.png' } },
      { type: 'image', source: { ...data('image/png'), value: 'BBBB' }, metadata: { filename: 'a.png' } },
      { type: 'document', source: data('image/png'), metadata: { filename: 'a.png' } },
    ])('is kept beside a modern part that carries less or other: %j', (modern) => {
      const { content } = parse(modern, binary({ mimeType: 'image/png', data: 'AAAA', filename: 'a.png' }))
      expect(content).toHaveLength(2)
    })

    it('may be there twice', () => {
      const part = binary({ mimeType: 'image/png', data: 'AAAA' })
      expect(parse(part, part).content).toHaveLength(2)
    })
  })

  describe('an activity message', () => {
    it('is dropped, well formed or not, and leaves the positions of the others alone', () => {
      const { input, warnings } = parseRunInput({
        threadId: 't',
        runId: 'r',
        messages: [
          { id: 'x', role: 'activity', activityType: 'job', content: {} },
          { id: 'u', role: 'user', content: 'x', extra: 1 },
          { role: 'activity', content: 'x' },
        ],
      })
      expect(input.messages).toEqual([{ id: 'u', role: 'user', content: 'x' }])
      const reason = 'activity messages do not belong in a run input, dropped'
      expect(warnings).toEqual([
        { field: 'messages[0]', message: reason },
        { field: 'messages[1].extra', message: 'unknown member, dropped' },
        { field: 'messages[2]', message: reason },
      ])
    })
  })
})
