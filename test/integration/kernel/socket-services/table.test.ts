/**
 * The suite of all tables on the kernel: with the programs that it gets from the agent, and with those of older kernels.
 * What the kernel of this machine has beyond these stays: only their instructions are tried.
 */
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { type Reached, servers, testSocketTable } from '#test/linux/socket-services/table-suite.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import type { Answer } from './client.ts';
import { SocketMachine } from './machine.ts';

interface Kernel {
  readonly name: string;
  /** Whether it has `bpf_set_retval`. */
  readonly canRefuse: boolean;
  /** Whether it reports cookies of network namespaces: without that the agent does not know the one of the host. */
  readonly hasCookies: boolean;
}

const kernels: readonly Kernel[] = [
  { name: 'the kernel', canRefuse: true, hasCookies: true },
  { name: 'a kernel before 5.18, without bpf_set_retval', canRefuse: false, hasCookies: true },
  { name: 'a kernel before 5.14, without SO_NETNS_COOKIE', canRefuse: false, hasCookies: false },
];

for (const { name, canRefuse, hasCookies } of kernels)
  testSocketTable(name, withoutSocketHooks(), async () => {
    const machine = new SocketMachine();
    const clients = [await machine.client(), await machine.client()] as const;
    for (const client of clients) await client.serve(...servers);
    const kernel = kernelHost({ clock: systemClock });
    // the second client stands for a process of the host
    const hostNamespace = hasCookies
      ? await kernel.namespaceCookie(clients[1].namespace)
      : undefined;
    const start = () => {
      const started = machine.table({}, hostNamespace);
      if (!canRefuse) machine.files.replacePrograms({ canRefuse, hostNamespace });
      return started;
    };
    let table = start();
    const refusal = canRefuse ? 'ECONNREFUSED' : 'EPERM';
    const reached = ({ server, error }: Answer): Reached =>
      error === refusal ? 'refused' : server;
    return {
      get table() {
        return table;
      },
      namespaces: [clients[0].namespace, clients[1].namespace],
      restart: async () => {
        table = start();
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
