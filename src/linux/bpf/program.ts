import { Refusal } from '../netlink/refusal.ts';
import { call, close, cString, type Field, info, write } from './system-call.ts';

/** Types of programs: packets of links and of sockets of a group, calls with an address, sockets, and what happens to connections. */
const types = { packet: 3, groupPacket: 8, socket: 9, connection: 13, address: 18 } as const;

/** A place of the kernel that runs programs. */
export interface HookPlace {
  /** Of the programs. */
  readonly type: number;
  /** Of the attach type. */
  readonly number: number;
}

/** Of a control group, by name, for services. */
export const hooks = {
  connect4: { type: types.address, number: 10 },
  connect6: { type: types.address, number: 11 },
  sendmsg4: { type: types.address, number: 14 },
  sendmsg6: { type: types.address, number: 15 },
  recvmsg4: { type: types.address, number: 19 },
  recvmsg6: { type: types.address, number: 20 },
  getpeername4: { type: types.address, number: 29 },
  getpeername6: { type: types.address, number: 30 },
  /** A socket is closed. */
  release: { type: types.socket, number: 34 },
} as const;

/** Of a control group, by name, for flows. */
export const flowHooks = {
  /** A connection begins, waits or ends. */
  connection: { type: types.connection, number: 3 },
  release: hooks.release,
  /** A socket gets a packet, or sends one. */
  ingress: { type: types.groupPacket, number: 0 },
  egress: { type: types.groupPacket, number: 1 },
} as const;

export type FlowHook = keyof typeof flowHooks;

/** A packet enters by a link. */
export const packetHook: HookPlace = { type: types.packet, number: 46 };

export type Hook = keyof typeof hooks;

const LOG_LENGTH = 1 << 18;

/** A program that the kernel has checked. */
export class BpfProgram {
  readonly file: number;

  private constructor(file: number) {
    this.file = file;
  }

  /** @throws Refusal; its text ends with what the verifier says */
  static load(name: string, hook: HookPlace, code: Buffer): BpfProgram {
    const fields: Field[] = [
      [0, hook.type],
      [4, code.length / 8],
      [8, code],
      // some helpers are only for programs with this licence
      [16, cString('GPL')],
      [68, hook.number],
    ];
    const attributes = (more: readonly Field[]): Buffer => {
      const bytes = Buffer.alloc(72);
      write(bytes, [...fields, ...more]);
      cString(name).copy(bytes, 48, 0, 15);
      return bytes;
    };
    try {
      return new BpfProgram(call('loadProgram', attributes([])));
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      const log = Buffer.alloc(LOG_LENGTH);
      try {
        return new BpfProgram(
          call(
            'loadProgram',
            attributes([
              [24, 1],
              [28, log.length],
              [32, log],
            ]),
          ),
        );
      } catch {
        const text = log.subarray(0, log.indexOf(0)).toString().trim();
        thrown.message += `: ${text.split('\n').slice(-4).join(' ')}`;
        throw thrown;
      }
    }
  }

  /** Identity of the code: equal for equal instructions. */
  get tag(): string {
    return tagOf(info(this.file, 16));
  }

  close(): void {
    close(this.file);
  }
}

function tagOf(programInfo: Buffer): string {
  return programInfo.subarray(8, 16).toString('hex');
}
