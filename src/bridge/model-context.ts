import type { Context, Tool } from '@ag-ui/core'

/** What pages of CopilotKit send for models that write A2UI: the components they can draw, and pages of advice. */
const forA2ui = /^A2UI (?:Component Schema|catalog capabilities|generation guidelines|design guidelines)\b/

/** By this client tool, AG-UI's middleware has the agent's own model write A2UI. */
const renderToolName = 'render_a2ui'

/**
 * The client's context, as it is for a model. Without what pages send for those that write A2UI: it is long, and advises to
 * call a tool that other models do not have.
 */
export function contextForModels({
  context,
  tools,
}: {
  readonly context: readonly Context[]
  readonly tools: readonly Tool[]
}): readonly Context[] {
  if (tools.some(({ name }) => name === renderToolName)) return context
  return context.filter(({ description }) => !forA2ui.test(description))
}
