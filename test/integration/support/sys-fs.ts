/** A folder in the place of /sys/fs, with a bpf file system and a control group of its own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class SysFs implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'cv-sys-fs-'));
  readonly #group: string;

  constructor() {
    for (const [name, type] of [
      ['bpf', 'bpf'],
      ['cgroup', 'cgroup2'],
    ] as const) {
      mkdirSync(join(this.path, name));
      execFileSync('mount', ['-t', type, 'none', join(this.path, name)]);
    }
    const root = join(this.path, 'cgroup');
    this.#group = join(root, this.path.slice(tmpdir().length + 1));
    mkdirSync(this.#group);
    // the group of the test in the place of the root, which has all processes of the machine
    execFileSync('mount', ['--bind', this.#group, root]);
  }

  /** Folder of the control group. */
  get group(): string {
    return join(this.path, 'cgroup');
  }

  /** Puts a process into the group, with those that it starts later. */
  add(processId: number): void {
    writeFileSync(join(this.group, 'cgroup.procs'), String(processId));
  }

  /** The bpf file system is replaced by an empty one. */
  remountBpf(): void {
    const folder = join(this.path, 'bpf');
    execFileSync('umount', [folder]);
    execFileSync('mount', ['-t', 'bpf', 'none', folder]);
  }

  setBpfReadOnly(isReadOnly: boolean): void {
    const mode = isReadOnly ? 'ro' : 'rw';
    execFileSync('mount', ['-o', `remount,${mode}`, join(this.path, 'bpf')]);
  }

  /** Needs the end of the processes in the group. */
  [Symbol.dispose](): void {
    execFileSync('umount', [join(this.path, 'bpf')]);
    execFileSync('umount', [this.group]);
    rmdirSync(this.#group);
    execFileSync('umount', [this.group]);
    for (const name of ['bpf', 'cgroup', '']) rmdirSync(join(this.path, name));
  }
}
