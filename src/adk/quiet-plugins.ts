import { BasePlugin, PluginManager } from '@google/adk'

type OnEvent = Parameters<PluginManager['runOnEventCallback']>[0]
type AfterModel = Parameters<PluginManager['runAfterModelCallback']>[0]
type PerPiece = 'onEventCallback' | 'afterModelCallback'

const nothing = Promise.resolve(undefined)

/**
 * Plugins of one run. ADK's own manager writes a line to the console for each plugin it is given, which would be lines
 * for every run. And for every piece of a text it asks each plugin, with several waits, whether it listens or not.
 */
export class QuietPlugins extends PluginManager {
  readonly #listeners = new Map<PerPiece, readonly BasePlugin[]>()

  override registerPlugin(plugin: BasePlugin): void {
    const own = pluginsOf(this)
    if ([...own].some(({ name }) => name === plugin.name))
      throw new Error(`Two plugins are named '${plugin.name}'. Give each a name of its own.`)
    own.add(plugin)
  }

  override runOnEventCallback(params: OnEvent): ReturnType<PluginManager['runOnEventCallback']> {
    return this.#listening('onEventCallback').length === 0 ? nothing : super.runOnEventCallback(params)
  }

  override runAfterModelCallback(params: AfterModel): ReturnType<PluginManager['runAfterModelCallback']> {
    const [first, second] = this.#listening('afterModelCallback')
    if (!first) return nothing
    // Our own does not fail. ADK tells which plugin has: that is for those of the team.
    const isOwn = !second && first.name === ownName
    return isOwn ? first.afterModelCallback(params) : super.runAfterModelCallback(params)
  }

  /** Known at the first piece: then all are registered. */
  #listening(callback: PerPiece): readonly BasePlugin[] {
    const known = this.#listeners.get(callback)
    if (known) return known
    const found = [...pluginsOf(this)].filter((plugin) => plugin[callback] !== BasePlugin.prototype[callback])
    this.#listeners.set(callback, found)
    return found
  }
}

/** The name of the plugin that each run has. */
const ownName = 'millrace'

/** The plugins of a manager. ADK has no public way to list them. */
export function pluginsOf(manager: PluginManager): Set<BasePlugin> {
  return (manager as unknown as { readonly plugins: Set<BasePlugin> }).plugins
}
