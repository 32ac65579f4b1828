/**
 * The codec in messages a second, then control pings through the client against the same pings from
 * a bare socket: the distance between the two is what the client costs. With VPP_API_SOCKET set to
 * the socket of a running VPP, its answers are measured too.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { toPrefix } from '#southbound/vpp/binapi/addresses.ts';
import { bundledCatalogue } from '#southbound/vpp/binapi/catalogue.ts';
import { BinapiClient } from '#southbound/vpp/binapi/client/client.ts';
import { viewOf, Writer } from '#southbound/vpp/binapi/codec/writer.ts';
import { writeFrame } from '#southbound/vpp/binapi/frame.ts';
import { unixConnect } from '#southbound/vpp/binapi/transport/unix.ts';

export const name = 'binary API: codec and client';

type Print = (line: string) => void;

export async function run(print: Print): Promise<void> {
  codec(print);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const path = join(folder, 'api.sock');
  const server = new Worker(new URL('lib/ping-server.ts', import.meta.url), { workerData: path });
  await once(server, 'message');
  for (const window of [1, 128])
    print(rate(`bare socket, ${window} pings in flight`, await bare(path, window)));
  await client(print, path, 'client');
  await server.terminate();
  rmSync(folder, { recursive: true });
  const vpp = process.env['VPP_API_SOCKET'];
  if (vpp !== undefined) await client(print, vpp, 'client and VPP');
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
    const codec = bundledCatalogue().codec(message);
    const writer = new Writer(1 << 16);
    const pack = () => {
      writer.length = 0;
      codec.encode(writer, fields, 1, 2, 3);
    };
    print(rate(`pack ${message}`, perSecond(pack)));
    const bytes = Buffer.from(writer.bytes.subarray(0, writer.length));
    const view = viewOf(bytes);
    const unpack = () => codec.decode({ bytes, view, position: 0, end: bytes.length });
    print(rate(`unpack ${message}`, perSecond(unpack)));
  }
}

/** The best of some short runs, the first of which also warms up. */
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

async function bare(socketPath: string, window: number): Promise<number> {
  const count = window === 1 ? 20_000 : 400_000;
  const socket = createConnection(socketPath);
  await once(socket, 'connect');
  const greeting = new Writer(128);
  const create = bundledCatalogue().codec('sockclnt_create');
  writeFrame(greeting, create, { name: 'bench' }, 15, 0, 0);
  socket.write(greeting.bytes.subarray(0, greeting.length));
  await once(socket, 'data');
  await systemClock.sleep(100); // the rest of the message table
  socket.removeAllListeners('data');
  const writer = new Writer(64);
  writeFrame(writer, bundledCatalogue().codec('control_ping'), {}, 20, 1, 7);
  const ping = writer.bytes.subarray(0, writer.length);
  const pongLength = 16 + 18;
  const start = performance.now();
  let received = 0;
  let sent = window;
  socket.write(Buffer.concat(Array<Buffer>(window).fill(ping)));
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      const before = Math.floor(received / pongLength);
      received += chunk.length;
      const answered = Math.floor(received / pongLength);
      const more = Math.min(answered - before, count - sent);
      sent += more;
      if (more > 0) socket.write(Buffer.concat(Array<Buffer>(more).fill(ping)));
      if (answered >= count) resolve();
    });
  });
  socket.destroy();
  return (count / (performance.now() - start)) * 1000;
}

async function client(print: Print, socketPath: string, what: string): Promise<void> {
  const client = new BinapiClient({
    connect: unixConnect(socketPath, systemClock),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  client.start();
  await client.whenConnected();
  for (const window of [1, 128, 1000]) {
    const count = window === 1 ? 20_000 : 300_000;
    let left = count;
    const start = performance.now();
    const callers = Array.from({ length: window }, async () => {
      while (left-- > 0) await client.request('control_ping', {});
    });
    await Promise.all(callers);
    const result = (count / (performance.now() - start)) * 1000;
    print(rate(`${what}, ${window} callers of control_ping`, result));
  }
  await client.close();
}
