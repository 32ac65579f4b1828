import type { NetNamespace } from '#models/linux/interface.ts';
import {
  type LinuxHost,
  NamespaceNotFoundError,
  type NamespacePath,
  type NamespaceState,
} from '../api.ts';

/** Where a namespace of the configuration is found; undefined is the agent's own. */
export function namespacePath(namespace: NetNamespace | undefined): NamespacePath {
  const reference = namespace?.reference ?? '';
  switch (namespace?.type) {
    case 'NSID':
      return `/run/netns/${reference}`;
    case 'PID':
      return `/proc/${reference}/ns/net`;
    case 'FD':
      return reference;
    default:
      return undefined;
  }
}

type Reader = 'linux-interface' | 'linux-route' | 'linux-arp' | 'linux-host-link';

interface CachedDump {
  readonly state: Promise<NamespaceState | undefined>;
  readonly readBy: Set<Reader>;
}

/**
 * One look into a namespace serves all descriptors of one read-back: each may use it once, and
 * none after something was changed. A namespace that has gone gives undefined.
 */
export class NamespaceDumps {
  readonly #host: LinuxHost;
  readonly #held = new Map<NamespacePath, CachedDump>();

  constructor(host: LinuxHost) {
    this.#host = host;
  }

  /** To be called before anything is changed. */
  invalidate(): void {
    this.#held.clear();
  }

  read(namespace: NamespacePath, reader: Reader): Promise<NamespaceState | undefined> {
    const held = this.#held.get(namespace);
    if (held !== undefined && !held.readBy.has(reader)) {
      held.readBy.add(reader);
      return held.state;
    }
    const state = this.#dump(namespace);
    this.#held.set(namespace, { state, readBy: new Set([reader]) });
    return state;
  }

  async #dump(namespace: NamespacePath): Promise<NamespaceState | undefined> {
    try {
      return await this.#host.dump(namespace);
    } catch (thrown) {
      if (thrown instanceof NamespaceNotFoundError) return undefined;
      throw thrown;
    }
  }
}
