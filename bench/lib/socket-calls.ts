/** A process that makes calls on a socket of datagrams again and again, to the address that its parent names. */
import { writeFileSync } from 'node:fs';
import koffi from 'koffi';

export interface CallRequest {
  /** `sendto`: a socket without a connection; `send`: one that is connected. */
  readonly call: 'connect' | 'sendto' | 'send';
  readonly address: string;
  readonly port: number;
  readonly count: number;
}

const libc = koffi.load(null);
const socket = libc.func('int socket(int domain, int type, int protocol)') as (
  ...args: readonly [number, number, number]
) => number;
type AddressCall = (...args: readonly [number, Uint8Array, number]) => number;
const connect = libc.func(
  'int connect(int socket, const uint8_t *address, uint32_t length)',
) as AddressCall;
const bind = libc.func(
  'int bind(int socket, const uint8_t *address, uint32_t length)',
) as AddressCall;
const sendto = libc.func(
  'intptr_t sendto(int socket, const uint8_t *bytes, size_t length, int flags, const uint8_t *address, uint32_t addressLength)',
) as (...args: readonly [number, Uint8Array, number, number, Uint8Array | null, number]) => number;
const closeFile = libc.func('int close(int file)') as (file: number) => number;

const INTERNET = 2;
const DATAGRAMS = 2;
/** As a query of DNS. */
const datagram = new Uint8Array(64);

function addressOf(address: string, port: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(INTERNET, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(address.split('.').map(Number), 4);
  return bytes;
}

function checked(result: number, name: string): void {
  if (result < 0) throw new Error(`${name}: errno ${koffi.errno()}`);
}

/** Nanoseconds of the processor for one call: other processes of the machine do not count. */
function measure({ call, address, port, count }: CallRequest): number {
  const file = socket(INTERNET, DATAGRAMS, 0);
  const to = addressOf(address, port);
  const calls = {
    connect: () => connect(file, to, to.length),
    sendto: () => sendto(file, datagram, datagram.length, 0, to, to.length),
    send: () => sendto(file, datagram, datagram.length, 0, null, 0),
  };
  if (call === 'send') checked(calls.connect(), 'connect');
  const one = calls[call];
  const start = process.cpuUsage();
  for (let each = 0; each < count; each++) checked(one(), call);
  const { user, system } = process.cpuUsage(start);
  closeFile(file);
  return ((user + system) * 1000) / count;
}

// the control group to join; or the port of a socket that takes datagrams, and reads none
const [, , group = '', port] = process.argv;
if (port === undefined) writeFileSync(`${group}/cgroup.procs`, String(process.pid));
else {
  const receiver = socket(INTERNET, DATAGRAMS, 0);
  const any = addressOf('0.0.0.0', Number(port));
  checked(bind(receiver, any, any.length), 'bind');
}
process.on('message', (request: CallRequest) => process.send!(measure(request)));
process.on('disconnect', () => process.exit());
process.send!('ready');
