/** A process that connects a socket of datagrams again and again, to the address that its parent names. */
import { writeFileSync } from 'node:fs';
import koffi from 'koffi';

export interface ConnectRequest {
  readonly address: string;
  readonly port: number;
  readonly count: number;
}

const libc = koffi.load(null);
const socket = libc.func('int socket(int domain, int type, int protocol)') as (
  ...args: readonly [number, number, number]
) => number;
const connect = libc.func('int connect(int socket, const uint8_t *address, uint32_t length)') as (
  ...args: readonly [number, Uint8Array, number]
) => number;

const INTERNET = 2;
const DATAGRAMS = 2;

/** Nanoseconds of one call. */
function measure({ address, port, count }: ConnectRequest): number {
  const file = socket(INTERNET, DATAGRAMS, 0);
  const to = Buffer.alloc(16);
  to.writeUInt16LE(INTERNET, 0);
  to.writeUInt16BE(port, 2);
  to.set(address.split('.').map(Number), 4);
  const start = process.hrtime.bigint();
  for (let each = 0; each < count; each++)
    if (connect(file, to, to.length) !== 0) throw new Error(`connect: errno ${koffi.errno()}`);
  const taken = Number(process.hrtime.bigint() - start) / count;
  closeFile(file);
  return taken;
}

const closeFile = libc.func('int close(int file)') as (file: number) => number;

const [, , group] = process.argv;
if (group !== undefined) writeFileSync(`${group}/cgroup.procs`, String(process.pid));
process.on('message', (request: ConnectRequest) => process.send!(measure(request)));
process.on('disconnect', () => process.exit());
process.send!('ready');
