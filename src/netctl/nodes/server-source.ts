/** Nodes that the command line names, and the node of this machine. */
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { defineError } from '#infra/errors/errors.ts';
import type { UserAgent } from '#infra/process/user-folder.ts';
import type { ClusterNode } from '../command.ts';
import type { NodeSource } from './node-source.ts';

export const ServerAddressError = defineError({
  name: 'ServerAddressError',
  code: 'CV_NETCTL_SERVER',
  rejects: 'configuration',
  remedy:
    'Write --server as host, host:port, [IPv6 address]:port, or unix:/path of the socket of an agent.',
});

/** @throws ServerAddressError */
export function serverSource(servers: readonly string[]): NodeSource {
  return sourceOf('--server', servers.map(parseServer));
}

/** The agent of this machine. */
export function localSource(socket: string): NodeSource {
  const node = { ...unknown, ...called(hostname()), socket };
  return sourceOf(`unix socket ${socket}`, [node]);
}

/** Agents of this user with a simulated VPP. */
export function userSource(agents: readonly UserAgent[]): NodeSource {
  const nodes = agents.map(({ node, socket }) => ({ ...unknown, name: node, socket }));
  return sourceOf('agents of this user', nodes);
}

function sourceOf(name: string, nodes: readonly ClusterNode[]): NodeSource {
  return { name, nodes, pods: async () => undefined, close: async () => undefined };
}

const unknown = { id: undefined, host: undefined, vppAddress: undefined };

function called(given: string): Pick<ClusterNode, 'name' | 'given'> {
  return { name: given, given };
}

const MAX_PORT = 65_535;

function parseServer(server: string): ClusterNode {
  const [, socket] = /^(?:unix:)?(\/.+)$/.exec(server) ?? [];
  if (socket !== undefined) return { ...unknown, ...called(server), socket };
  const [, bracketed, plain, port] =
    /^(?:\[([0-9a-f:.%a-z]+)\]|([^:[\]/\s]+))(?::(\d+))?$/i.exec(server) ?? [];
  // An IPv6 address without brackets has no port.
  const host = bracketed ?? plain ?? (isIPv6(server) ? server : undefined);
  if (host === undefined) throw invalid(server, problemOf(server));
  if (port !== undefined && (Number(port) < 1 || Number(port) > MAX_PORT))
    throw invalid(server, `its port is not a number from 1 to ${MAX_PORT}`);
  return { ...unknown, ...called(server), host, ...(port !== undefined && { port: Number(port) }) };
}

/** A URL is what other programs take. */
function problemOf(server: string): string {
  const [, scheme] = /^([a-z][a-z\d+.-]*):\/\//i.exec(server) ?? [];
  if (scheme === undefined) return 'is not an address of a server';
  const instead = scheme.toLowerCase() === 'https' ? ', and add --https' : '';
  return `is a URL: leave out ${scheme}://${instead}`;
}

function invalid(server: string, problem: string): Error {
  return new ServerAddressError(problem, { where: `--server ${server}` });
}
