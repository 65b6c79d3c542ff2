import { expect, test } from 'vitest'
import type { JsonSchema, ModelSettings } from '../contract.js'
import { createOutputOptions } from './strict-output.js'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const closedCity = { ...city, additionalProperties: false }

function optionsFor(schema: JsonSchema, provider = 'openai.chat', settings: ModelSettings = {}) {
  const warnings: string[] = []
  const toOptions = createOutputOptions({ provider }, (warning) => warnings.push(warning))
  const options = toOptions({ output: { name: 'place', schema }, settings })
  return { ...options, warnings }
}

test('an output is asked for as JSON, with closed objects at each depth', () => {
  const schema = {
    ...{ type: 'object', required: ['at', 'all', 'one', 'none'], $defs: { city } },
    properties: {
      at: { $ref: '#/$defs/city' },
      all: { type: 'array', items: city },
      one: { anyOf: [city, { type: 'null' }] },
      none: { type: 'object', properties: {} },
    },
  }
  expect(optionsFor(schema)).toEqual({
    responseFormat: {
      ...{ type: 'json', name: 'place' },
      schema: {
        ...{ type: 'object', required: ['at', 'all', 'one', 'none'], additionalProperties: false },
        $defs: { city: closedCity },
        properties: {
          at: { $ref: '#/$defs/city' },
          all: { type: 'array', items: closedCity },
          one: { anyOf: [closedCity, { type: 'null' }] },
          none: { type: 'object', properties: {}, additionalProperties: false },
        },
      },
    },
    warnings: [],
  })
})

test.each([
  [{ ...city, required: [] }, '$.city is optional'],
  [{ ...city, additionalProperties: true }, '$ may have any members'],
  [{ type: 'object' }, '$ may have any members'],
  [{ ...city, properties: { city: {} } }, '$.city may be anything'],
  [{ ...city, properties: { city: { oneOf: [city] } } }, "$.city has 'oneOf'"],
  [
    { ...city, properties: { city: { type: 'array', items: { format: 'uri' } } } },
    "$.city[] has the format 'uri'",
  ],
  [{ anyOf: [city] }, 'the answer is not an object'],
])('a schema that strict mode refuses is asked for without it: %j', (schema, problem) => {
  const { providerOptions, warnings } = optionsFor(schema, 'azure.responses')
  expect(providerOptions).toEqual({ azure: { strictJsonSchema: false }, openai: { strictJsonSchema: false } })
  expect(warnings).toEqual([expect.stringContaining(problem)])
})

test('the options of the user stay, and win', () => {
  const providerOptions = { openai: { strictJsonSchema: true, store: false }, other: { a: 1 } }
  const asked = optionsFor({ type: 'object' }, 'openai.chat', { providerOptions })
  expect(asked.providerOptions).toEqual(providerOptions)
})

test('a provider without such a mode is sent nothing else', () => {
  expect(optionsFor({ type: 'object' }, 'anthropic.messages')).toEqual({
    responseFormat: { type: 'json', name: 'place', schema: { type: 'object' } },
    warnings: [],
  })
})
