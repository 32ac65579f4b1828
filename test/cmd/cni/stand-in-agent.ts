/** Agents for contiv-cni without a node: one that sends given bytes, and the server with another service. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { CNIReply, StatusReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { CniService } from '#plugins/podmanager/cni-service.ts';
import { serveCni } from '#plugins/podmanager/cni-socket.ts';
import { folder } from './runtime.ts';

export interface StandIn extends AsyncDisposable {
  readonly socket: string;
}

let count = 0;

function nextSocket(): string {
  return join(folder, `agent-${count++}.sock`);
}

/** @param talk called for each connection when its call has begun to arrive */
export async function agentThat(talk: (connection: Socket) => void): Promise<StandIn> {
  const socket = nextSocket();
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on('error', () => undefined);
    connection.once('data', () => talk(connection));
  }).listen(socket);
  await once(server, 'listening');
  return {
    socket,
    [Symbol.asyncDispose]: async () => {
      for (const connection of connections) connection.destroy();
      server.close();
    },
  };
}

const replies = messageCodec(CNIReply);

/** Answers each call at once. */
export const quietService: CniService = {
  add: async () =>
    replies.canonical({
      interfaces: [{ name: 'eth0', ip_addresses: [{ address: '10.1.1.2/32' }] }],
    }),
  delete: async () => replies.canonical({}),
  check: async () => replies.canonical({}),
  gc: async () => replies.canonical({}),
  status: async () => messageCodec(StatusReply).canonical({ ready: true, pod_cidr: '10.1.1.0/24' }),
};

/** The server of the agent. */
export async function agentWith(service: Partial<CniService>): Promise<StandIn> {
  const socketPath = nextSocket();
  const server = await serveCni({
    service: { ...quietService, ...service },
    socketPath,
    mode: 0o700,
    replaceStale: true,
    clock: systemClock,
    log: silentLogger,
  });
  return { socket: socketPath, [Symbol.asyncDispose]: () => server.close(0) };
}
