/** A LinuxHost with namespaces to work in. */
import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import type { LinuxHost, LinuxLink, LinuxRoute, NamespaceState } from '#linux/api.ts';
import { LinuxError } from '#linux/api.ts';

export interface LinuxBackend {
  readonly host: LinuxHost;
  /** A fresh namespace: its path. */
  makeNamespace(): Promise<string>;
  removeNamespace(path: string): Promise<void>;
  /** A TAP that no program has opened. */
  makeTap(namespace: string, name: string): Promise<void>;
  /** Removes what is left. */
  close(): Promise<void>;
}

/** Of one suite, between whose tests no namespace stays. */
export class HostBench {
  #backend: LinuxBackend | undefined;
  #spaces: string[] = [];

  /** To be called in the suite: it begins and ends with it. */
  constructor(make: () => Promise<LinuxBackend>) {
    before(async () => {
      this.#backend = await make();
    });
    after(() => this.#backend?.close());
    afterEach(async () => {
      for (const path of this.#spaces) await this.removeNamespace(path);
      this.#spaces = [];
    });
  }

  get host(): LinuxHost {
    return this.#backend!.host;
  }

  async space(): Promise<string> {
    const path = await this.#backend!.makeNamespace();
    this.#spaces.push(path);
    return path;
  }

  /** A pair across two namespaces with both ends up. */
  async pair(a = 'va', b = 'vb'): Promise<readonly [string, string]> {
    const { host } = this;
    const [left, right] = [await this.space(), await this.space()];
    await Promise.all([
      host.createVeth({ namespace: left, name: a }, { namespace: right, name: b }),
      host.setLink(left, a, { up: true }),
      host.setLink(right, b, { up: true }),
    ]);
    return [left, right];
  }

  makeTap(namespace: string, name: string): Promise<void> {
    return this.#backend!.makeTap(namespace, name);
  }

  removeNamespace(path: string): Promise<void> {
    return this.#backend!.removeNamespace(path);
  }
}

export function refusedWith(errno: string) {
  return (error: unknown) => {
    assert.ok(error instanceof LinuxError, String(error));
    assert.equal(error.errno, errno, error.message);
    return true;
  };
}

export function linkOf(state: NamespaceState, name: string): LinuxLink {
  const found = state.links.find((link) => link.name === name);
  assert.ok(found, `no link ${name} among ${state.links.map((link) => link.name)}`);
  return found;
}

export function route(destination: string, device: string, more: Partial<LinuxRoute> = {}) {
  return { destination, device, scope: 'global' as const, metric: 0, ...more };
}
