import { expect, it } from 'vitest'

import { negotiate } from './negotiate.js'
import { protobufMediaType } from './protobuf.js'

it.each([
  undefined,
  null,
  '',
  '*/*',
  'application/*',
  'application/json',
  'text/event-stream',
  'text/event-stream, */*',
  `${protobufMediaType};q=0`,
  `${protobufMediaType};q=0.000`,
  `${protobufMediaType};q=high`,
  `${protobufMediaType};q=0.5, text/event-stream`,
  `text/event-stream;q=0.9, ${protobufMediaType};q=0.8`,
  `${protobufMediaType}-v2`,
  `x/${protobufMediaType}`,
  `application/json; profile=${protobufMediaType}`,
  'application/vnd.ag-ui.*',
])('speaks SSE for Accept: %s', (accept) => {
  expect(negotiate(accept)).toBe('sse')
})

it.each([
  protobufMediaType,
  'Application/VND.AG-UI.Event+Proto',
  `${protobufMediaType};q=0.1`,
  `${protobufMediaType} ; Q=1.0`,
  `${protobufMediaType};v=1;q=0.3`,
  `text/html , ${protobufMediaType}`,
  `${protobufMediaType}, text/event-stream`,
  `text/event-stream;q=0.5, ${protobufMediaType};q=0.5`,
  `text/event-stream;q=0.4, ${protobufMediaType};q=0.5`,
  `${protobufMediaType};q=0.1, */*`,
  `${protobufMediaType};q=0, ${protobufMediaType}`,
])('speaks protobuf for Accept: %s', (accept) => {
  expect(negotiate(accept)).toBe('protobuf')
})
