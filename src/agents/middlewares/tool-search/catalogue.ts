import type { RunContext, Tool } from '../../contract.js'
import { toolError } from '../tool-error.js'
import { foundInMessages, searchToolName } from './found-tools.js'

/** The hidden tools of one agent in one run, and which of them it has found. */
export interface Catalogue {
  readonly tools: readonly Tool[]
  isHidden(name: string): boolean
  reveal(names: readonly string[]): void
}

/**
 * What was found is kept in the values of the run, and so in its checkpoint. What earlier runs of the thread have found
 * is read from their messages.
 */
export function openCatalogue(tools: readonly Tool[], ctx: RunContext): Catalogue {
  // Values are shared by all agents of a run, and each finds tools of its own.
  const key = `millrace:found-tools:${ctx.span.address}`
  const names = new Set(tools.map(({ name }) => name))
  const readFound = (): string[] => {
    const value = ctx.values.get(key)
    return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
  }
  const reveal = (more: readonly string[]): void => {
    const found = new Set([...readFound(), ...more].filter((name) => names.has(name)))
    if (found.size > 0) ctx.values.set(key, [...found])
  }
  reveal(foundInMessages(ctx.messages))
  return { tools, isHidden: (name) => names.has(name) && !readFound().includes(name), reveal }
}

/** The tool as it is, except that it cannot be called before it was found. */
export function guarded(tool: Tool, { isHidden }: Pick<Catalogue, 'isHidden'>): Tool {
  const { name } = tool
  return Object.create(tool, {
    call: {
      value: (...[args, ctx]: Parameters<Tool['call']>) => {
        if (!isHidden(name)) return tool.call(args, ctx)
        const remedy = `Find it first: call ${searchToolName} with the query "select:${name}".`
        throw toolError(`The tool '${name}' is not loaded, so its arguments are not known. ${remedy}`)
      },
    },
  }) as Tool
}
