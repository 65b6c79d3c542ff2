import { MillraceError } from '../../core/errors.js'
import type { TransferTarget, Tool } from '../contract.js'
import { transferToolName } from '../history/history.js'

/** The tool by which a model hands over to another agent. */
export function transferTool(targets: readonly TransferTarget[]): Tool {
  const names = targets.map(({ name }) => name)
  const list = targets.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  return {
    name: transferToolName,
    description: `Hand the conversation over to another agent, when it is better suited to go on.\n${list}`,
    parameters: {
      type: 'object',
      properties: {
        agent_name: { type: 'string', enum: names, description: 'The agent to hand over to.' },
      },
      required: ['agent_name'],
      additionalProperties: false,
    },
    call(args, ctx) {
      const to = Reflect.get(Object(args), 'agent_name') as unknown
      if (typeof to !== 'string' || !names.includes(to)) {
        const message = `There is no agent '${String(to)}' to hand over to. Agents: ${names.join(', ')}.`
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', message)
      }
      ctx.transfer(to)
      return `Transferred to '${to}'.`
    },
  }
}
