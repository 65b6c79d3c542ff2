import { BasePlugin, PluginManager } from '@google/adk'

type OnEvent = Parameters<PluginManager['runOnEventCallback']>[0]
type AfterModel = Parameters<PluginManager['runAfterModelCallback']>[0]
type PerDelta = 'onEventCallback' | 'afterModelCallback'

const nothing = Promise.resolve(undefined)

/**
 * The plugins of one run. ADK's own manager logs a line for each plugin of each run, and calls every plugin for every
 * delta, with several awaits, whether the plugin has the callback or not.
 */
export class RunPluginManager extends PluginManager {
  // Looked up at the first delta: all plugins are registered before it.
  #withOnEvent: readonly BasePlugin[] | undefined
  #withAfterModel: readonly BasePlugin[] | undefined

  override registerPlugin(plugin: BasePlugin): void {
    const own = pluginsOf(this)
    if ([...own].some(({ name }) => name === plugin.name))
      throw new Error(`Two plugins are named '${plugin.name}'. Give each a name of its own.`)
    own.add(plugin)
  }

  override runOnEventCallback(params: OnEvent): ReturnType<PluginManager['runOnEventCallback']> {
    this.#withOnEvent ??= this.#pluginsWith('onEventCallback')
    return this.#withOnEvent.length === 0 ? nothing : super.runOnEventCallback(params)
  }

  override runAfterModelCallback(params: AfterModel): ReturnType<PluginManager['runAfterModelCallback']> {
    const [first, second] = (this.#withAfterModel ??= this.#pluginsWith('afterModelCallback'))
    if (!first) return nothing
    // ADK's method adds the plugin's name to errors. Our own plugin does not fail.
    const isOwn = !second && first.name === ownPluginName
    return isOwn ? first.afterModelCallback(params) : super.runAfterModelCallback(params)
  }

  #pluginsWith(callback: PerDelta): readonly BasePlugin[] {
    return [...pluginsOf(this)].filter((plugin) => plugin[callback] !== BasePlugin.prototype[callback])
  }
}

/** The name of the plugin that every run has. */
export const ownPluginName = 'millrace'

/** ADK has no public way to list the plugins of a manager. */
export function pluginsOf(manager: PluginManager): Set<BasePlugin> {
  return (manager as unknown as { readonly plugins: Set<BasePlugin> }).plugins
}
