/**
 * A process with both ends of connections, in two network namespaces: it opens and closes them at a rate, or sends back and forth
 * over one. Nothing waits for another process, so its processor time is that of the kernel for both ends.
 */
import { openSync, writeFileSync } from 'node:fs';
import koffi from 'koffi';
import { setns } from '#linux/kernel/system-calls.ts';

export interface LoadPlace {
  /** Control group to enter; empty: none. */
  readonly group: string;
  /** Paths of network namespaces. */
  readonly client: string;
  readonly server: string;
  readonly address: string;
  /** The first of some. */
  readonly port: number;
}

export type LoadRequest =
  | { readonly do: 'connections'; readonly rate: number; readonly seconds: number }
  | { readonly do: 'exchange'; readonly kind: ExchangeKind; readonly count: number };

export type ExchangeKind = 'UDP' | 'connected UDP' | 'TCP';

export interface LoadReply {
  readonly count: number;
  /** Nanoseconds of the processor for each connection, or for each packet: a round trip has two. */
  readonly each: number;
}

const libc = koffi.load(null);
type Call<A extends readonly unknown[]> = (...args: A) => number;
const calls = {
  socket: libc.func('int socket(int domain, int type, int protocol)') as Call<
    [number, number, number]
  >,
  bind: libc.func('int bind(int socket, const uint8_t *address, uint32_t length)') as Call<
    [number, Uint8Array, number]
  >,
  listen: libc.func('int listen(int socket, int backlog)') as Call<[number, number]>,
  connect: libc.func('int connect(int socket, const uint8_t *address, uint32_t length)') as Call<
    [number, Uint8Array, number]
  >,
  accept: libc.func('int accept(int socket, void *address, void *length)') as Call<
    [number, null, null]
  >,
  sendto: libc.func(
    'intptr_t sendto(int socket, const uint8_t *bytes, size_t length, int flags, const uint8_t *address, uint32_t addressLength)',
  ) as Call<[number, Uint8Array, number, number, Uint8Array | null, number]>,
  recvfrom: libc.func(
    'intptr_t recvfrom(int socket, uint8_t *bytes, size_t length, int flags, uint8_t *address, uint32_t *addressLength)',
  ) as Call<[number, Uint8Array, number, number, Uint8Array | null, Uint32Array | null]>,
  close: libc.func('int close(int file)') as Call<[number]>,
};

const INTERNET = 2;
const types = { TCP: 1, UDP: 2 } as const;
const ADDRESS_LENGTH = 16;
const BACKLOG = 64;
/** One port of a server has too few ports of clients for those that wait for a minute after their end. */
const SERVERS = 16;
const SENT = new Uint8Array(100);
const PAUSE_MS = 2;
/** Part of a second that is made up for. */
const LATEST = 0.25;

function checked(result: number): number {
  if (result < 0) throw new Error(`errno ${koffi.errno()}`);
  return result;
}

const place = JSON.parse(process.argv[2]!) as LoadPlace;
if (place.group !== '') writeFileSync(`${place.group}/cgroup.procs`, String(process.pid));
const namespaces = { client: openSync(place.client, 'r'), server: openSync(place.server, 'r') };

function socketIn(end: 'client' | 'server', protocol: 'TCP' | 'UDP'): number {
  setns(namespaces[end]);
  return checked(calls.socket(INTERNET, types[protocol], 0));
}

function addressOf(port: number): Buffer {
  const bytes = Buffer.alloc(ADDRESS_LENGTH);
  bytes.writeUInt16LE(INTERNET, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(place.address.split('.').map(Number), 4);
  return bytes;
}

function serving(protocol: 'TCP' | 'UDP', port: number) {
  const file = socketIn('server', protocol);
  const address = addressOf(port);
  checked(calls.bind(file, address, address.length));
  if (protocol === 'TCP') checked(calls.listen(file, BACKLOG));
  return { file, address };
}

const servers = Array.from({ length: SERVERS }, (_, at) => serving('TCP', place.port + at));
const datagrams = serving('UDP', place.port);
const buffer = new Uint8Array(1_000);

function connected(at: number): { readonly client: number; readonly server: number } {
  const { file, address } = servers[at % SERVERS]!;
  const client = checked(calls.socket(INTERNET, types.TCP, 0));
  checked(calls.connect(client, address, address.length));
  return { client, server: checked(calls.accept(file, null, null)) };
}

const send = (file: number): number => checked(calls.sendto(file, SENT, SENT.length, 0, null, 0));
const receive = (file: number): number =>
  checked(calls.recvfrom(file, buffer, buffer.length, 0, null, null));

async function connections(rate: number, seconds: number): Promise<LoadReply> {
  setns(namespaces.client);
  const [start, begun] = [process.cpuUsage(), performance.now()];
  let [count, due, last] = [0, 0, begun];
  while (last - begun < 1_000 * seconds) {
    const now = performance.now();
    // a machine that is too slow opens fewer: what is late does not come at once
    due = count + Math.min(due - count + ((now - last) * rate) / 1_000, rate * LATEST);
    last = now;
    for (; count + 1 <= due; count++) {
      const { client, server } = connected(count);
      send(client);
      receive(server);
      checked(calls.close(client));
      receive(server);
      checked(calls.close(server));
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const { user, system } = process.cpuUsage(start);
  return { count, each: ((user + system) * 1_000) / count };
}

function exchange(kind: ExchangeKind, count: number): LoadReply {
  const isTcp = kind === 'TCP';
  setns(namespaces.client);
  const { client, server } = isTcp
    ? connected(0)
    : { client: socketIn('client', 'UDP'), server: datagrams.file };
  const { address: to } = datagrams;
  if (kind === 'connected UDP') checked(calls.connect(client, to, to.length));
  const from = new Uint8Array(ADDRESS_LENGTH);
  const length = Uint32Array.of(from.length);
  const start = process.cpuUsage();
  for (let at = 0; at < count; at++) {
    if (kind === 'UDP') checked(calls.sendto(client, SENT, SENT.length, 0, to, to.length));
    else send(client);
    if (isTcp) {
      receive(server);
      send(server);
    } else {
      checked(calls.recvfrom(server, buffer, buffer.length, 0, from, length));
      checked(calls.sendto(server, SENT, SENT.length, 0, from, from.length));
    }
    receive(client);
  }
  const { user, system } = process.cpuUsage(start);
  checked(calls.close(client));
  if (isTcp) checked(calls.close(server));
  return { count, each: ((user + system) * 1_000) / count / 2 };
}

process.on('message', async (request: LoadRequest) => {
  const reply =
    request.do === 'connections'
      ? await connections(request.rate, request.seconds)
      : exchange(request.kind, request.count);
  process.send!(reply);
});
process.on('disconnect', () => process.exit());
process.send!('ready');
