import { CodedError, errorText } from '#infra/errors/errors.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
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
  return modules.flatMap((module) => {
    const { path } = module;
    const made = [madeBy(module, host)].flat();
    if (made.length === 0) throw new PluginModuleError('it makes no handler', { where: path });
    for (const handler of made) {
      const fault = faultOf(handler, names);
      if (fault !== undefined) throw new PluginModuleError(fault, { where: path });
      names.add(handler.name);
    }
    return made;
  });
}

/** An error with a code has a remedy of its own. */
function madeBy({ path, options, make }: PluginModule, host: Omit<PluginHost, 'options'>) {
  try {
    return make({ ...host, options });
  } catch (thrown) {
    if (thrown instanceof CodedError) throw thrown;
    throw new PluginModuleError(errorText(thrown), { where: path, cause: thrown });
  }
}

/** @param handler what a module of others has made, which may be anything */
function faultOf(handler: Partial<EventHandler> | undefined, names: ReadonlySet<string>) {
  if (handler instanceof Promise) return 'its default export is asynchronous';
  if (typeof handler?.name !== 'string' || handler.name === '')
    return 'it makes a handler without a name';
  const missing = methods.find((method) => typeof handler[method] !== 'function');
  if (missing !== undefined) return `its handler ${handler.name} has no ${missing}()`;
  if (handler.state !== undefined && !(handler.state instanceof HandlerState))
    return `the state of its handler ${handler.name} is no HandlerState`;
  return names.has(handler.name) ? `another handler has the name ${handler.name}` : undefined;
}
