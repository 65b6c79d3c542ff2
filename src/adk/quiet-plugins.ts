import { PluginManager, type BasePlugin } from '@google/adk'

/**
 * Plugins of one run. ADK's own manager writes a line to the console for each plugin it is given, which would be lines
 * for every run.
 */
export class QuietPlugins extends PluginManager {
  override registerPlugin(plugin: BasePlugin): void {
    const own = pluginsOf(this)
    if ([...own].some(({ name }) => name === plugin.name))
      throw new Error(`Two plugins are named '${plugin.name}'. Give each a name of its own.`)
    own.add(plugin)
  }
}

/** The plugins of a manager. ADK has no public way to list them. */
export function pluginsOf(manager: PluginManager): Set<BasePlugin> {
  return (manager as unknown as { readonly plugins: Set<BasePlugin> }).plugins
}
