import { chmodSync } from 'node:fs';
import type { BoltConfig } from '#datastore/config.ts';
import { LevelStore } from '#datastore/level-store.ts';
import type { LevelOptions } from '#datastore/sealed-level.ts';
import { type DurationValue, durationMs } from '#infra/config/duration.ts';
import type { EnvironmentDeps } from './environment.ts';

/** @throws StoreOpenError, StoreLockedError */
export function openLevel(
  folder: string,
  lockTimeout: DurationValue,
  { clock, random, loggers }: EnvironmentDeps,
  options?: Pick<LevelOptions, 'isExpendable' | 'syncDelayMs'>,
): Promise<LevelStore> {
  return LevelStore.open({
    ...options,
    folder,
    log: loggers.get('local-store'),
    lockWait: { clock, limitMs: durationMs(lockTimeout) },
    random,
  });
}

/** A store whose folder has the mode of the configuration. */
export async function openOwnStore(
  folder: string,
  bolt: BoltConfig,
  parts: EnvironmentDeps,
  options?: Pick<LevelOptions, 'syncDelayMs'>,
): Promise<LevelStore> {
  const store = await openLevel(folder, bolt['lock-timeout'], parts, options);
  chmodSync(folder, folderMode(bolt['file-mode']));
  return store;
}

/** The store of the external configuration of gRPC clients. */
export function openExternal(
  folder: string,
  bolt: BoltConfig,
  parts: EnvironmentDeps,
): Promise<LevelStore> {
  return openOwnStore(`${folder}.external`, bolt, parts);
}

/** The mode of the folder protects the files in it: LevelDB sets that of each file itself. */
function folderMode(fileMode: number): number {
  const readable = fileMode & 0o444;
  return fileMode | (readable >> 2);
}
