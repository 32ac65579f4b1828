import { readFile } from 'node:fs/promises';
import type { Clock } from '#infra/clock/clock.ts';
import type { LinuxHost } from '../api.ts';
import * as commands from './commands.ts';
import { parseDump } from './dump.ts';
import { namespaceIdentity } from './namespace-file.ts';
import { namespacePaths } from './namespace-paths.ts';
import { CommandQueue } from './queue.ts';

export interface KernelHostOptions {
  readonly clock: Clock;
  /**
   * Time limit of one process in milliseconds, plus 200 for each further command. After it, the outcome
   * of the commands is unknown.
   */
  readonly limitMs?: number;
}

/**
 * The network stack of this machine, through `ip`, `nsenter` and `ethtool`. Needs CAP_NET_ADMIN,
 * and CAP_SYS_ADMIN for other namespaces.
 */
export function kernelHost({ clock, limitMs = 10_000 }: KernelHostOptions): LinuxHost {
  const queue = new CommandQueue({ clock, limitMs });
  const run = async (command: commands.Command): Promise<void> => {
    await queue.run(command);
  };
  return {
    namespaceIdentity,
    namespaces: namespacePaths,
    bootId: async () => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim(),
    createVeth: async (a, b) => run(commands.createVeth(a, b)),
    deleteLink: async (namespace, name) => run(commands.deleteLink(namespace, name)),
    moveLink: async (from, to) => run(commands.moveLink(from, to)),
    setLink: async (namespace, name, settings) => run(commands.setLink(namespace, name, settings)),
    addAddress: async (namespace, name, address) =>
      run(commands.addAddress(namespace, name, address)),
    deleteAddress: async (namespace, name, address) =>
      run(commands.deleteAddress(namespace, name, address)),
    addRoute: async (namespace, route) => run(commands.route('add', namespace, route)),
    replaceRoute: async (namespace, route) => run(commands.route('replace', namespace, route)),
    deleteRoute: async (namespace, route) => run(commands.route('del', namespace, route)),
    setNeighbor: async (namespace, entry) => run(commands.setNeighbor(namespace, entry)),
    deleteNeighbor: async (namespace, device, address) =>
      run(commands.deleteNeighbor(namespace, device, address)),
    setChecksumOffload: async (namespace, name, offload) =>
      run(commands.setChecksumOffload(namespace, name, offload)),
    setSysctl: async (namespace, name, value) => run(commands.setSysctl(namespace, name, value)),
    dump: async (namespace) => parseDump(await queue.run(commands.dump(namespace))),
  };
}
