import { Refusal } from '../netlink/refusal.ts';
import type { BpfProgram, HookPlace } from './program.ts';
import { bpf, close, info, openKept, pin } from './system-call.ts';

/** A program at a hook of a control group or of a link; beside those of others, and as long as the link is kept. */
export class BpfLink {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /** @param at descriptor of the folder of a control group of version 2, or index of a link of the host */
  static create(program: BpfProgram, at: number, hook: HookPlace): BpfLink {
    return new BpfLink(
      bpf('createLink', 32, [
        [0, program.file],
        [4, at],
        [8, hook.number],
      ]),
    );
  }

  /** @throws Refusal with ENOENT: there is none */
  static open(path: string): BpfLink {
    return new BpfLink(openKept(path));
  }

  pin(path: string): void {
    pin(this.#file, path);
  }

  /** Puts another program in the place of the one there: each call of a socket meets one of the two. */
  replace(program: BpfProgram): void {
    bpf('updateLink', 16, [
      [0, this.#file],
      [4, program.file],
    ]);
  }

  /** Ends the program here at once; without it the kernel does so some time after the last reference. */
  detach(): void {
    bpf('detachLink', 4, [[0, this.#file]]);
  }

  /** Number of the program, and of the control group: 0 if the group was deleted. */
  get place(): { readonly program: number; readonly group: bigint } {
    const found = info(this.#file, 32);
    return { program: found.readUInt32LE(8), group: found.readBigUInt64LE(16) };
  }

  /** Index of the link of the host; 0 if it was deleted. */
  get index(): number {
    return info(this.#file, 32).readUInt32LE(16);
  }

  close(): void {
    close(this.#file);
  }
}

/** Whether there is no object of this name. */
export function isMissing(thrown: unknown): boolean {
  return thrown instanceof Refusal && thrown.errno === 'ENOENT';
}
