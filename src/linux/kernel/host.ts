import { readFile } from 'node:fs/promises';
import type { Clock } from '#infra/clock/clock.ts';
import type { Connection } from '#plugins/controller/api/ports/host.ts';
import type { LinkReport, LinuxHost, LinuxLink, NamespaceState } from '../api.ts';
import type { FoundSocket } from '../netlink/sockets.ts';
import type { SeenConnections } from '../socket-flows/kernel-flows.ts';
import type { NamespaceCookies } from '../socket-services/kernel-table.ts';
import type { DatagramSockets } from '../socket-services/stale-sockets.ts';
import { CommandQueue } from './command-queue.ts';
import * as commands from './commands.ts';
import { namespaceIdentity } from './namespace-file.ts';
import { namespacePaths } from './namespace-paths.ts';

export interface KernelHostOptions {
  readonly clock: Clock;
  /**
   * Time limit of a command in milliseconds. After it, the outcome of this command, and of the others of its
   * batch that have no answer, is unknown.
   */
  readonly limitMs?: number;
  /** Module of the thread that talks to the kernel. */
  readonly thread?: URL;
}

/**
 * The network stack of this machine, through netlink sockets. Needs CAP_NET_ADMIN, and CAP_SYS_ADMIN for
 * other namespaces.
 */
export function kernelHost({
  clock,
  limitMs = 10_000,
  thread = new URL('thread.ts', import.meta.url),
}: KernelHostOptions): LinuxHost & DatagramSockets & NamespaceCookies & SeenConnections {
  const queue = new CommandQueue({ clock, limitMs, thread });
  // its thread answers first, and then waits for the kernel
  const deletions = new CommandQueue({ clock, limitMs, thread });
  const run = async (command: commands.Command): Promise<void> => {
    await queue.run(command);
  };
  return {
    namespaceIdentity,
    namespaces: namespacePaths,
    bootId: async () => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim(),
    createVeth: async (a, b) => run(commands.createVeth(a, b)),
    deleteLink: async (namespace, name) => run(commands.deleteLink(namespace, name)),
    beginDeleteTap: async (namespace, name) => {
      await deletions.run(commands.beginDeleteTap(namespace, name));
    },
    moveLink: async (from, to) => run(commands.moveLink(from, to)),
    setLink: async (namespace, name, settings) => run(commands.setLink(namespace, name, settings)),
    addAddress: async (namespace, name, address) =>
      run(commands.changeAddress('addAddress', namespace, name, address)),
    deleteAddress: async (namespace, name, address) =>
      run(commands.changeAddress('deleteAddress', namespace, name, address)),
    addRoute: async (namespace, route) => run(commands.changeRoute('add', namespace, route)),
    replaceRoute: async (namespace, route) =>
      run(commands.changeRoute('replace', namespace, route)),
    deleteRoute: async (namespace, route) => run(commands.changeRoute('delete', namespace, route)),
    setNeighbor: async (namespace, entry) => run(commands.setNeighbor(namespace, entry)),
    deleteNeighbor: async (namespace, device, address) =>
      run(commands.deleteNeighbor(namespace, device, address)),
    setChecksumOffload: async (namespace, name, offload) =>
      run(commands.setChecksumOffload(namespace, name, offload)),
    setSysctl: async (namespace, name, value) => run(commands.setSysctl(namespace, name, value)),
    dump: async (namespace) => (await queue.run(commands.dump(namespace))) as NamespaceState,
    findLinks: async (namespace, names) =>
      (await queue.run(commands.findLinks(namespace, names))) as readonly LinuxLink[],
    reportLinks: async (namespace) =>
      (await queue.run(commands.reportLinks(namespace))) as readonly LinkReport[],
    namespaceCookie: async (namespace) =>
      (await queue.run(commands.namespaceCookie(namespace))) as bigint,
    datagramSockets: async (namespace) =>
      (await queue.run(commands.datagramSockets(namespace))) as readonly FoundSocket[],
    connections: async (namespace) =>
      (await queue.run(commands.tcpConnections(namespace))) as readonly Connection[],
    seenConnections: async (namespace, states) =>
      (await queue.run(commands.seenConnections(namespace, states))) as Uint8Array,
    endDatagramSocket: async (namespace, socket) =>
      run(commands.endDatagramSocket(namespace, socket)),
  };
}
