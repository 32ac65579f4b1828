import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Reached, servers, testSocketTable } from '#test/linux/socket-services/table-suite.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import type { Answer } from './client.ts';
import { SocketMachine } from './machine.ts';

testSocketTable('the kernel', withoutSocketHooks(), async () => {
  const machine = new SocketMachine();
  const clients = [await machine.client(), await machine.client()] as const;
  for (const client of clients) await client.serve(...servers);
  let table = machine.table();
  const reached = ({ server, error }: Answer): Reached =>
    error === 'ECONNREFUSED' ? 'refused' : server;
  return {
    get table() {
      return table;
    },
    namespaces: [clients[0].namespace, clients[1].namespace],
    restart: async () => {
      table = machine.table();
    },
    connect: async (namespace, to) =>
      reached(await clients[namespace].request({ kind: 'connect', to })),
    send: async (namespace, socket, to) => {
      const family = isIPv6(to.address) ? 6 : 4;
      return reached(await clients[namespace].request({ kind: 'send', socket, to, family }));
    },
    wait: (ms) => sleep(ms),
    close: () => machine.close(),
  };
});
