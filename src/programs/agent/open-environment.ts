/**
 * Opens what the agent runs on: either the real stores, VPP and Linux, or embedded ones in the same
 * process, which need no rights and nothing installed.
 */
import { statSync } from 'node:fs';
import { etcdOptions } from '#datastore/config.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { LevelStore } from '#datastore/level.ts';
import { mirrorPrefix } from '#plugins/dbwatcher/api.ts';
import { kernelHost } from '#southbound/linux/host.ts';
import { thisMachine } from '#southbound/linux/machine.ts';
import { prepareHost } from '#southbound/linux/prepare.ts';
import { unixConnect } from '#southbound/vpp/binapi/transport/unix.ts';
import type { Environment, EnvironmentParts } from './environment.ts';
import type { Settings } from './settings.ts';

export async function openEnvironment(
  settings: Settings,
  parts: EnvironmentParts,
): Promise<Environment> {
  const folder = localFolder(settings.bolt['db-path']);
  // The mirror can be had again from etcd; attachments and addresses can not.
  const local = await LevelStore.open({
    folder,
    expendable: mirrorPrefix,
    log: parts.loggers.get('local-store'),
  });
  if (settings.embedded) {
    // The simulator is loaded by those who ask for it alone.
    const { embeddedEnvironment } = await import('./embedded.ts');
    return embeddedEnvironment(local, parts);
  }
  const cluster = settings.etcd
    ? new EtcdStore(etcdOptions(settings.etcd, settings.env), parts.clock)
    : local;
  return {
    cluster,
    local,
    connectVpp: unixConnect(settings.govpp['binapi-socket-path'], parts.clock),
    linux: kernelHost({ clock: parts.clock }),
    prepareHost: (needs) => prepareHost(thisMachine(parts.clock), needs),
    addNamespace: undefined,
    close: async () => {
      if (cluster !== local) await cluster.close();
      await local.close();
    },
  };
}

/** A `bolt.conf` of the Go agent names its database, a file; ours then stands beside it. */
function localFolder(path: string): string {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile || path.endsWith('.db') ? `${path}.level` : path;
}
