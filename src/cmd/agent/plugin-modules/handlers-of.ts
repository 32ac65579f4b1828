import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { PluginModuleError } from './load.ts';
import type { PluginHost, PluginModule } from './plugin-host.ts';

const methods = ['handlesEvent', 'resync', 'update'] as const;

/**
 * The handlers of modules, each with what it gets of the agent.
 * @param before handlers whose names are taken
 * @throws PluginModuleError for what is no handler, and for a second one of a name
 */
export function handlersOf(
  modules: readonly PluginModule[],
  host: Omit<PluginHost, 'options'>,
  before: readonly EventHandler[],
): EventHandler[] {
  const names = new Set(before.map(({ name }) => name));
  return modules.flatMap(({ path, options, make }) => {
    const made = [make({ ...host, options })].flat();
    for (const handler of made) {
      const fault = faultOf(handler, names);
      if (fault !== undefined) throw new PluginModuleError(fault, { where: path });
      names.add(handler.name);
    }
    return made;
  });
}

/** @param handler what a module of others has made, which may be anything */
function faultOf(handler: Partial<EventHandler> | undefined, names: ReadonlySet<string>) {
  if (typeof handler?.name !== 'string' || handler.name === '')
    return 'it makes a handler without a name';
  const missing = methods.find((method) => typeof handler[method] !== 'function');
  if (missing !== undefined) return `its handler ${handler.name} has no ${missing}()`;
  return names.has(handler.name) ? `another handler has the name ${handler.name}` : undefined;
}
