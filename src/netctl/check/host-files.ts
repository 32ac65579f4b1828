/** Files of the machine; what does not exist, or may not be read, is missing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export class HostFiles {
  readonly #root: string;

  /** @param root the folder that stands for `/` */
  constructor(root = '/') {
    this.#root = root;
  }

  text(path: string): string | undefined {
    return ifPermitted(() => readFileSync(join(this.#root, path), 'utf8'));
  }

  number(path: string): number | undefined {
    const text = this.text(path)?.trim() ?? '';
    return /^\d+$/.test(text) ? Number(text) : undefined;
  }

  /** Names in a folder, sorted. */
  names(path: string): readonly string[] | undefined {
    return ifPermitted(() => readdirSync(join(this.#root, path)).sort());
  }

  has(path: string): boolean {
    return existsSync(join(this.#root, path));
  }
}

function ifPermitted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
