import { type BpfProgram, type Hook, hooks } from './program.ts';
import { bpf, close, info, openKept, pin } from './system-call.ts';

/** A program at a hook of a control group; beside those of others, and as long as the link is kept. */
export class BpfLink {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /** @param group descriptor of the folder of a control group of version 2 */
  static create(program: BpfProgram, group: number, hook: Hook): BpfLink {
    return new BpfLink(
      bpf('createLink', 16, [
        [0, program.file],
        [4, group],
        [8, hooks[hook].number],
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

  close(): void {
    close(this.#file);
  }
}
