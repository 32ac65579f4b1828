import { ConfigError, type LoadedConfig } from '#infra/config/load.ts';
import type { ContivConfig, contivConfigSchema } from './config.ts';
import { configProblems } from './config-problems.ts';

/**
 * Validates the loaded configuration.
 * @returns warnings of one sentence each, with file and line, including those of the loader
 * @throws ConfigError for the first error, with file and line
 */
export function checkContivConfig(
  loaded: LoadedConfig<typeof contivConfigSchema>,
  nodeName: string,
): { readonly config: ContivConfig; readonly warnings: readonly string[] } {
  const problems = configProblems(loaded.value, nodeName);
  const error = problems.find(({ level }) => level === 'error');
  if (error)
    throw new ConfigError(`${error.path}: ${error.text}`, { where: loaded.where(error.path) });
  return {
    config: loaded.value,
    warnings: [
      ...loaded.warnings,
      ...problems.map(({ path, text }) => `${loaded.where(path)}: ${path}: ${text}`),
    ],
  };
}
