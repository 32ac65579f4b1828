/**
 * The codec in messages per second, then requests through the client compared with the same requests
 * over a raw socket, both including the encoding: the difference is the cost of the client. With
 * VPP_API_SOCKET set to the API socket of a running VPP, requests to it are measured too.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { viewOf, Writer } from '#vpp/binapi/codec/writer.ts';
import { writeFrame } from '#vpp/binapi/frame.ts';
import type { Requests } from '#vpp/binapi/messages.gen.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import type { CannedReply } from './lib/canned-reply-server.ts';

export const NAME = 'binary API: codec and client';

type Print = (line: string) => void;

/** A request and its reply. */
interface Exchange {
  readonly request: 'control_ping' | 'ip_route_add_del';
  readonly reply: string;
  readonly fields: object;
}

const exchanges: readonly Exchange[] = [
  { request: 'control_ping', reply: 'control_ping_reply', fields: { retval: 0, vpe_pid: 1 } },
  {
    request: 'ip_route_add_del',
    reply: 'ip_route_add_del_reply',
    fields: { retval: 0, stats_index: 0 },
  },
];

/** Requests in flight: on the raw socket by count, in the client by the number of callers. */
const windows = [1, 100] as const;
const ROUNDS = 3;

export async function run(print: Print): Promise<void> {
  codec(print);
  const vpp = process.env['VPP_API_SOCKET'];
  for (const exchange of exchanges) {
    await shares(print, exchange);
    if (vpp !== undefined)
      for (const window of windows)
        print(
          rate(
            `client and VPP, ${exchange.request}, ${window} in flight`,
            await client(vpp, exchange, window),
          ),
        );
  }
}

/** Compares the client with a raw socket that encodes the same messages; medians of rounds in turn. */
async function shares(print: Print, exchange: Exchange): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const answering: CannedReply = {
    path: join(folder, 'api.sock'),
    requestLength: encoded(exchange).length,
    reply: exchange.reply,
    fields: exchange.fields,
  };
  const server = new Worker(new URL('lib/canned-reply-server.ts', import.meta.url), {
    workerData: answering,
  });
  await once(server, 'message');
  for (const window of windows) {
    const rounds: { raw: number; client: number }[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const pair = {
        raw: await raw(answering.path, exchange, window),
        client: await client(answering.path, exchange, window),
      };
      if (round > 0) rounds.push(pair);
    }
    const what = `${exchange.request}, ${window} in flight`;
    print(rate(`raw socket, ${what}`, median(rounds.map((pair) => pair.raw))));
    print(rate(`client, ${what}`, median(rounds.map((pair) => pair.client))));
    const share = median(rounds.map((pair) => pair.client / pair.raw));
    print(`share of the raw socket: ${Math.round(share * 100)} %`);
  }
  await server.terminate();
  rmSync(folder, { recursive: true });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

/** Encodes a request with its frame, as the client does for each request. */
function encodeRequest(writer: Writer, { request }: Exchange): void {
  writeFrame(writer, bundledCatalog().codec(request), messages[request]!, 20, 1, 7);
}

function encoded(exchange: Exchange): Uint8Array {
  const writer = new Writer(512);
  encodeRequest(writer, exchange);
  return writer.bytes.subarray(0, writer.length);
}

function rate(what: string, perSecond: number): string {
  return `${what.padEnd(52)} ${Math.round(perSecond / 1000).toLocaleString('en')} k/s`;
}

const path = {
  sw_if_index: 3,
  table_id: 0,
  rpf_id: 0,
  weight: 1,
  preference: 0,
  type: 0,
  flags: 0,
  proto: 0,
  nh: {
    address: Uint8Array.of(10, 1, 1, 1),
    via_label: 0x100000,
    obj_id: 0,
    classify_table_index: 0xffffffff,
  },
  n_labels: 0,
  label_stack: [],
};
const rule = {
  is_permit: 1,
  src_prefix: toPrefix('10.1.0.0/16'),
  dst_prefix: toPrefix('10.96.0.1/32'),
  proto: 6,
  srcport_or_icmptype_first: 0,
  srcport_or_icmptype_last: 65535,
  dstport_or_icmpcode_first: 80,
  dstport_or_icmpcode_last: 80,
  tcp_flags_mask: 0,
  tcp_flags_value: 0,
};
const local = { addr: Uint8Array.of(10, 1, 1, 1), port: 8080, probability: 1, vrf_id: 1 };

const messages: Readonly<Record<string, object>> = {
  control_ping: {},
  ip_route_add_del: {
    is_multipath: true,
    route: { table_id: 1, stats_index: 0, prefix: toPrefix('10.1.2.3/32'), paths: [path] },
  },
  nat44_add_del_lb_static_mapping: {
    is_add: true,
    flags: 4,
    external_addr: Uint8Array.of(10, 96, 0, 1),
    external_port: 80,
    protocol: 6,
    affinity: 0,
    tag: 'default/nginx',
    locals: Array(10).fill(local),
  },
  acl_add_replace: { acl_index: 0xffffffff, tag: 'policy', r: Array(10).fill(rule) },
};

function codec(print: Print): void {
  for (const [message, fields] of Object.entries(messages)) {
    const codec = bundledCatalog().codec(message);
    const writer = new Writer(1 << 16);
    const encode = () => {
      writer.length = 0;
      codec.encode(writer, fields, 1, 2, 3);
    };
    print(rate(`encode ${message}`, perSecond(encode)));
    const bytes = Buffer.from(writer.bytes.subarray(0, writer.length));
    const view = viewOf(bytes);
    const decode = () => codec.decode({ bytes, view, position: 0, end: bytes.length });
    print(rate(`decode ${message}`, perSecond(decode)));
  }
}

/** The best of six short runs; the first one also warms up. */
function perSecond(work: () => void): number {
  let best = 0;
  for (let round = 0; round < 6; round++) {
    const start = performance.now();
    let count = 0;
    for (; performance.now() - start < 60; count += 1000) for (let i = 0; i < 1000; i++) work();
    best = Math.max(best, (count / (performance.now() - start)) * 1000);
  }
  return best;
}

/** @returns requests a second */
async function raw(socketPath: string, exchange: Exchange, window: number): Promise<number> {
  const count = window === 1 ? 20_000 : 200_000;
  const socket = createConnection(socketPath);
  await once(socket, 'connect');
  const greeting = new Writer(128);
  const create = bundledCatalog().codec('sockclnt_create');
  writeFrame(greeting, create, { name: 'bench' }, 15, 0, 0);
  socket.write(greeting.bytes.subarray(0, greeting.length));
  await once(socket, 'data');
  await systemClock.sleep(100); // the rest of the message table
  socket.removeAllListeners('data');
  const reply = new Writer(64);
  writeFrame(reply, bundledCatalog().codec(exchange.reply), exchange.fields, 20, 1, 7);
  const replyLength = reply.length;
  const send = (many: number) => {
    const writer = new Writer(512 * many);
    for (let i = 0; i < many; i++) encodeRequest(writer, exchange);
    socket.write(writer.bytes.subarray(0, writer.length));
  };
  const start = performance.now();
  let received = 0;
  let sent = window;
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      const before = Math.floor(received / replyLength);
      received += chunk.length;
      const answered = Math.floor(received / replyLength);
      const more = Math.min(answered - before, count - sent);
      sent += more;
      if (more > 0) send(more);
      if (answered >= count) resolve();
    });
    send(window);
  });
  socket.destroy();
  return (count / (performance.now() - start)) * 1000;
}

/** @returns requests a second */
async function client(socketPath: string, exchange: Exchange, window: number): Promise<number> {
  const client = new BinapiClient({
    connect: unixConnect(socketPath, systemClock),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  client.start();
  await client.whenConnected();
  const fields = messages[exchange.request] as Requests['ip_route_add_del']['request'];
  const request = () => client.request(exchange.request as 'ip_route_add_del', fields);
  const count = window === 1 ? 20_000 : 200_000;
  let left = count;
  const start = performance.now();
  const callers = Array.from({ length: window }, async () => {
    while (left-- > 0) await request();
  });
  await Promise.all(callers);
  const perSecond = (count / (performance.now() - start)) * 1000;
  await client.close();
  return perSecond;
}
