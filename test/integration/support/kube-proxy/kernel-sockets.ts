/** The answers of a process at whose socket the kernel translates, with the values that the agent of node-a has for it. */
import { toTable } from '#linux/descriptors/socket-service.ts';
import type { SocketNodeAddress } from '#models/linux/socket-node-address.ts';
import type { SocketService } from '#models/linux/socket-service.ts';
import type { Answer, Target } from '#test/services/service-cluster.ts';
import { type SocketClient, SocketMachine } from '../../kernel/socket-services/machine.ts';
import { machines } from './services.ts';

export interface SocketValues {
  readonly services: readonly SocketService[];
  readonly nodes: readonly SocketNodeAddress[];
}

export class KernelSockets implements AsyncDisposable {
  readonly #machine: SocketMachine;
  readonly #client: SocketClient;
  #sockets = 0;

  /** All machines are addresses of the client's own namespace: no packet leaves it. */
  static async start({ services, nodes }: SocketValues): Promise<KernelSockets> {
    const machine = new SocketMachine();
    const table = machine.table();
    for (const service of services) await table.put(toTable(service));
    for (const { address, is_local } of nodes)
      await table.putNodeAddress({ address, isLocal: is_local });
    const client = await machine.client();
    for (const { address, ports } of Object.values(machines)) {
      await client.addAddress(address);
      await client.serve(...ports.map((port) => ({ address, port })));
    }
    return new KernelSockets(machine, client);
  }

  private constructor(machine: SocketMachine, client: SocketClient) {
    this.#machine = machine;
    this.#client = client;
  }

  /** Undefined: the kernel translates no connection to the address. */
  async connect({ protocol, ...to }: Target): Promise<Answer | undefined> {
    const { server, peer, error } = await this.#client.request(
      protocol === 'TCP'
        ? { kind: 'connect', to }
        : { kind: 'send-connected', socket: String(this.#sockets++), to },
    );
    if (error === 'ENETUNREACH') return undefined;
    if (error !== undefined) return { result: error === 'ECONNREFUSED' ? 'refused' : 'timeout' };
    const [address = '', port] = server!.split(' ');
    const [backend = ''] =
      Object.entries(machines).find(([, one]) => one.address === address) ?? [];
    // the process sees the address of the service
    if (peer !== `${to.address} ${to.port}`) return { result: 'timeout' };
    return { result: 'answered', backend, backendPort: Number(port), client: address };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#machine.close();
  }
}
