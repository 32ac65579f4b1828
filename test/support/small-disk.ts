/** A small file system of its own, which a test fills and frees. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class SmallDisk {
  readonly folder: string;

  /** @param size as in the options of tmpfs, for example `2m` */
  constructor(size: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
    const options = ['-t', 'tmpfs', '-o', `size=${size}`, 'small-disk', this.folder];
    const { status, stderr } = spawnSync('mount', options, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`mount: ${stderr}`);
  }

  /** Leaves no free page; pages of files that are partly used stay writable. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.folder);
    writeFileSync(this.#filler, Buffer.alloc(bavail * bsize));
  }

  free(): void {
    rmSync(this.#filler);
  }

  close(): void {
    spawnSync('umount', [this.folder]);
    rmSync(this.folder, { recursive: true });
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }
}
