/** Root file systems in layers, as an engine keeps them: a stage of the build is one layer. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Layer {
  /** Files of this layer alone. */
  readonly files: string;
  /** Folders of the layers below, uppermost first. */
  readonly below: readonly string[];
}

/** Folders with the files of a layer and of those below, uppermost first. */
export const withBelow = ({ files, below }: Layer): readonly string[] => [files, ...below];

export class Overlays {
  /** Gets the layers. */
  readonly #folder: string;
  readonly #mounted: string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Fills a layer and mounts it for reading.
   * @param fill gets the writable root
   * @param folder gets the files; what it has already is in the layer, too
   * @returns the layer, and its read-only root
   */
  async layer(
    name: string,
    below: readonly string[],
    fill: (root: string) => void | Promise<void>,
    folder = join(this.#folder, name),
  ): Promise<{ readonly layer: Layer; readonly root: string }> {
    const [files, work, root] = ['files', 'work', 'root'].map((part) => {
      const path = join(folder, part);
      mkdirSync(path, { recursive: true });
      return path;
    }) as [string, string, string];
    const lower = below.join(':');
    this.#mount(root, `lowerdir=${lower},upperdir=${files},workdir=${work}`);
    try {
      await fill(root);
    } finally {
      this.#unmount(root);
    }
    this.#mount(root, `lowerdir=${[files, ...below].join(':')}`);
    return { layer: { files, below }, root };
  }

  /** Ends the mounts; the files stay. */
  close(): void {
    for (const root of this.#mounted.toReversed()) this.#unmount(root);
  }

  #mount(root: string, options: string): void {
    execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, root]);
    this.#mounted.push(root);
  }

  #unmount(root: string): void {
    execFileSync('umount', [root]);
    this.#mounted.splice(this.#mounted.lastIndexOf(root), 1);
  }
}
