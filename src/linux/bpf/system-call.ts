/** The system call `bpf` (`bpf(2)`, `include/uapi/linux/bpf.h`): objects of the kernel as descriptors of this process. */
import { constants, openSync } from 'node:fs';
import { arch } from 'node:process';
import koffi from 'koffi';
import { Refusal } from '../netlink/refusal.ts';

const libc = koffi.load(null);
const systemCall = libc.func(
  'long syscall(long number, int command, uint8_t *attributes, uint32_t length)',
) as (number: number, command: number, attributes: Uint8Array, length: number) => number;
const closeFile = libc.func('int close(int file)') as (file: number) => number;

const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 321, arm64: 280 };

export const bpfCommand = {
  createMap: 0,
  lookup: 1,
  update: 2,
  delete: 3,
  loadProgram: 5,
  pin: 6,
  open: 7,
  info: 15,
  loadTypes: 18,
  lookupBatch: 24,
  updateBatch: 26,
  deleteBatch: 27,
  createLink: 28,
  updateLink: 29,
  detachLink: 34,
} as const;

/** A field of the attributes at an offset: a number of 32 bits, or the address of bytes. */
export type Field = readonly [offset: number, value: number | Uint8Array];

/**
 * @param length of the attributes that the command has
 * @returns the result, for most commands a descriptor
 * @throws Refusal
 */
export function bpf(
  command: keyof typeof bpfCommand,
  length: number,
  fields: readonly Field[],
): number {
  const attributes = Buffer.alloc(length);
  write(attributes, fields);
  return call(command, attributes);
}

/** As `bpf`, for commands that write to the attributes. */
export function call(command: keyof typeof bpfCommand, attributes: Buffer): number {
  const number = NUMBERS[arch];
  if (number === undefined) throw new Error(`no number of the system call bpf for ${arch}`);
  const result = systemCall(number, bpfCommand[command], attributes, attributes.length);
  if (result < 0) throw new Refusal(koffi.errno());
  return result;
}

/** Bytes of which attributes have the addresses: they live as long, also if no variable names them any more. */
const addressed = new WeakMap<Buffer, readonly Field[]>();

/** Once for attributes. */
export function write(attributes: Buffer, fields: readonly Field[]): void {
  addressed.set(attributes, fields);
  for (const [offset, value] of fields)
    if (typeof value === 'number') attributes.writeUInt32LE(value, offset);
    else attributes.writeBigUInt64LE(BigInt(koffi.address(value)), offset);
}

export function close(file: number): void {
  closeFile(file);
}

/** Text with the zero that ends it. */
export function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

/** Keeps an object in the bpf file system beyond the process. */
export function pin(file: number, path: string): void {
  bpf('pin', 16, [
    [0, cString(path)],
    [8, file],
  ]);
}

/** Opens a kept object. @throws Refusal with ENOENT: there is none */
export function openKept(path: string): number {
  return bpf('open', 16, [[0, cString(path)]]);
}

/** Data about an object, as far as `length` goes. */
export function info(file: number, length: number): Buffer {
  const into = Buffer.alloc(length);
  bpf('info', 16, [
    [0, file],
    [4, length],
    [8, into],
  ]);
  return into;
}

/** Descriptor of a folder. */
export function openFolder(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
}
