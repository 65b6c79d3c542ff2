import { enforceOutgoingInput } from '@ag-ui/client'
import type { RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { json, runInput } from '../../../test/e2e/support-arbitraries.js'
import { MillraceError } from '../../core/errors.js'
import { parseRunInput } from './parse-run-input.js'

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
      { numRuns: 500 },
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

  it.each(['2.0', '0.9', '10.0'])('%s is refused before anything else is looked at', (protocolVersion) => {
    expect(() => parseRunInput({ protocolVersion })).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_PROTOCOL',
        status: 400,
        message: `The client speaks protocol "${protocolVersion}"; this server speaks 1.0.`,
      }),
    )
  })

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
