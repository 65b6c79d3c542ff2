import type { Tool } from '../contract.js'

/** A tool that lets the model end the run, with a final result: no further model call is made. */
export function exitTool({
  name = 'exit',
  description = 'End the conversation with a final result.',
} = {}): Tool {
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: { final_result: { type: 'string', description: 'The final result.' } },
      required: ['final_result'],
    },
    call(args, ctx) {
      const result = Reflect.get(Object(args), 'final_result') as unknown
      ctx.exit(result)
      return result
    },
  }
}

/** A tool that lets the model end the loop it runs in: a critic that is satisfied, for example. */
export function breakTool({
  name = 'end_loop',
  description = 'End the loop: the work is good as it is.',
} = {}): Tool {
  return {
    name,
    description,
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    call(_args, ctx) {
      ctx.breakLoop()
      return 'The loop ends here.'
    },
  }
}
