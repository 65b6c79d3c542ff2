import type { Tool } from './tool.js'

/** A tool that lets the model end the loop it runs in: a critic that is content, for example. */
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
