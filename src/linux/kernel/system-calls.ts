/** The system calls that Node.js lacks, on the calling thread. */
import koffi from 'koffi';
import { Refusal } from '../netlink/refusal.ts';

const libc = koffi.load(null);

type Call<Arguments extends readonly unknown[]> = (...args: Arguments) => number;

const calls = {
  setns: libc.func('int setns(int file, int type)') as Call<[number, number]>,
  socket: libc.func('int socket(int domain, int type, int protocol)') as Call<
    [number, number, number]
  >,
  setsockopt: libc.func(
    'int setsockopt(int socket, int level, int option, const uint8_t *value, uint32_t length)',
  ) as Call<[number, number, number, Uint8Array, number]>,
  getsockopt: libc.func(
    'int getsockopt(int socket, int level, int option, uint8_t *value, uint32_t *length)',
  ) as Call<[number, number, number, Uint8Array, Uint32Array]>,
  send: libc.func(
    'intptr_t send(int socket, const uint8_t *bytes, size_t length, int flags)',
  ) as Call<[number, Uint8Array, number, number]>,
  recv: libc.func('intptr_t recv(int socket, uint8_t *bytes, size_t length, int flags)') as Call<
    [number, Uint8Array, number, number]
  >,
  ioctl: libc.func('int ioctl(int socket, unsigned long request, const uint8_t *argument)') as Call<
    [number, number, Uint8Array]
  >,
  close: libc.func('int close(int file)') as Call<[number]>,
};

/** The result of a call. @throws Refusal */
function checked(result: number): number {
  if (result < 0) throw new Refusal(koffi.errno());
  return result;
}

const CLONE_NEWNET = 0x4000_0000;

/** Moves the calling thread to a network namespace. */
export function setns(file: number): void {
  checked(calls.setns(file, CLONE_NEWNET));
}

const AF_NETLINK = 16;
const SOCK_RAW_CLOSE_ON_EXEC = 0x80003;
/** Kinds of netlink sockets: links, addresses and routes; sockets of processes. */
export const netlinkKinds = { route: 0, sockets: 4 } as const;
export type NetlinkKind = keyof typeof netlinkKinds;
const SOL_NETLINK = 270;
const NETLINK_CAP_ACK = 10;
const NETLINK_EXT_ACK = 11;
/** A dump of addresses is restricted to the link that it names. */
const NETLINK_GET_STRICT_CHK = 12;

/** A netlink socket in the namespace of the calling thread; its refusals have the kernel's text. */
export function openSocket(kind: NetlinkKind): number {
  const number = netlinkKinds[kind];
  const socket = checked(calls.socket(AF_NETLINK, SOCK_RAW_CLOSE_ON_EXEC, number));
  const on = Uint8Array.of(1, 0, 0, 0);
  for (const option of [NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK])
    calls.setsockopt(socket, SOL_NETLINK, option, on, on.length);
  return socket;
}

const SOL_SOCKET = 1;
const SO_NETNS_COOKIE = 71;

/** Number of the network namespace of a socket, which no other one gets until the machine restarts. */
export function namespaceCookie(socket: number): bigint {
  const cookie = Buffer.alloc(8);
  const length = Uint32Array.of(cookie.length);
  checked(calls.getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, cookie, length));
  return cookie.readBigUInt64LE();
}

export function closeSocket(socket: number): void {
  calls.close(socket);
}

export function send(socket: number, bytes: Uint8Array): void {
  checked(calls.send(socket, bytes, bytes.length, 0));
}

const MSG_TRUNC = 0x20;
const MSG_DONTWAIT = 0x40;

/** @returns the length of the datagram, which may exceed that of the buffer */
export function receive(socket: number, into: Uint8Array): number {
  return checked(calls.recv(socket, into, into.length, MSG_TRUNC | MSG_DONTWAIT));
}

const SIOCETHTOOL = 0x8946;
const NAME_LENGTH = 16;
/** `struct ifreq` */
const REQUEST_LENGTH = 40;

/** Sets one value of a link, which must be in the namespace of the socket. */
export function setEthtool(socket: number, link: string, command: number, value: number): void {
  const setting = Buffer.alloc(8);
  setting.writeUInt32LE(command, 0);
  setting.writeUInt32LE(value, 4);
  const request = Buffer.alloc(REQUEST_LENGTH);
  request.write(link, 0, NAME_LENGTH - 1);
  request.writeBigUInt64LE(BigInt(koffi.address(setting)), NAME_LENGTH);
  checked(calls.ioctl(socket, SIOCETHTOOL, request));
}
