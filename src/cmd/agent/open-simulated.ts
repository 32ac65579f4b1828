/** Opens the environment of an agent with simulated VPP and Linux: it needs neither root nor installed programs. */
import type { KvStore } from '#datastore/api.ts';
import { levelFolder } from '#datastore/level-folder.ts';
import { explainedOpenError } from '#demonstration/already-running.ts';
import { simulatedEnvironment } from '#demonstration/simulated-environment.ts';
import { keysInMemory } from '#vpp/wireguard/key-file.ts';
import type { Environment, EnvironmentDeps } from './environment.ts';
import { openExternal, openOwnStore } from './open-level.ts';
import type { Settings } from './settings.ts';

export type SimulatedEnvironment = ReturnType<typeof simulatedEnvironment> &
  Pick<Environment, 'keyFile'>;

/**
 * @param cluster the store that several nodes share; undefined: the node is alone
 * @throws DemonstrationRunningError
 */
export async function openSimulated(
  { bolt, grpc2, label }: Settings,
  parts: EnvironmentDeps,
  cluster?: KvStore,
): Promise<SimulatedEnvironment> {
  const folder = levelFolder(bolt['db-path']);
  const local = await openOwnStore(folder, bolt, parts).catch((thrown: unknown) => {
    throw explainedOpenError(thrown, label);
  });
  const external = grpc2 && (await openExternal(folder, bolt, parts));
  const environment = simulatedEnvironment({ local, localDisk: local, cluster, external }, parts);
  return { ...environment, keyFile: keysInMemory() };
}
