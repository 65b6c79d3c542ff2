import { expect, test } from 'vitest'
import { invalidField } from './invalid-field.js'

test('names the field in the message and, for code, in the details', () => {
  expect(invalidField('runId', 'must not be empty')).toMatchObject({
    code: 'INVALID_INPUT',
    status: 400,
    expose: true,
    message: 'runId: must not be empty',
    details: { field: 'runId' },
  })
})
