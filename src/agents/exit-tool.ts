import type { Tool } from './tool.js'

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
