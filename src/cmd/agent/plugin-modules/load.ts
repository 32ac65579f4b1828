/**
 * Modules of plugins.conf. They import the package `contiv-vswitch`, which for them is `plugin-api.ts` of the agent that
 * loads them: a copy of the package beside them would have event kinds and models of its own.
 */
import { registerHooks } from 'node:module';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { PluginsConfig } from './config.ts';
import type { MakePlugin, PluginModule } from './plugin-host.ts';

export const PluginModuleError = defineError({
  name: 'PluginModuleError',
  code: 'CV_PLUGIN_MODULE',
  rejects: 'configuration',
  remedy: 'Correct the module, or plugins.conf, which names it: docs/plugins.md.',
});

const PACKAGE = 'contiv-vswitch';
const apiUrl = new URL('./plugin-api.ts', import.meta.url).href;

let isResolved = false;

/** @throws PluginModuleError */
export async function loadPluginModules({ modules }: PluginsConfig): Promise<PluginModule[]> {
  if (modules.length > 0 && !isResolved) {
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === PACKAGE ? { url: apiUrl, shortCircuit: true } : next(specifier, context),
    });
    isResolved = true;
  }
  const loaded: PluginModule[] = [];
  for (const { path, options } of modules)
    loaded.push({ path, options, make: await defaultExport(path) });
  return loaded;
}

async function defaultExport(path: string): Promise<MakePlugin> {
  if (!isAbsolute(path)) throw new PluginModuleError('the path is not absolute', { where: path });
  let module: { readonly default?: unknown };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    throw new PluginModuleError(errorText(error), { where: path, cause: error });
  }
  if (typeof module.default !== 'function')
    throw new PluginModuleError('it has no function as its default export', { where: path });
  return module.default as MakePlugin;
}
