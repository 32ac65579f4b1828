import type { NetNamespace } from '#models/linux/interface.ts';
import {
  type LinuxHost,
  NamespaceNotFoundError,
  type NamespacePath,
  type NamespaceState,
} from '../api.ts';

/** Path of a namespace of the configuration; undefined is the agent's own. */
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
 * Shares one dump of a namespace among the descriptors of one read-back. Each descriptor may use it
 * once, and none after a change. The dump of a namespace that no longer exists is undefined.
 */
export class NamespaceDumps {
  readonly #host: LinuxHost;
  readonly #cached = new Map<NamespacePath, CachedDump>();

  constructor(host: LinuxHost) {
    this.#host = host;
  }

  /** Must be called before each change. */
  invalidate(): void {
    this.#cached.clear();
  }

  read(namespace: NamespacePath, reader: Reader): Promise<NamespaceState | undefined> {
    const cached = this.#cached.get(namespace);
    if (cached !== undefined && !cached.readBy.has(reader)) {
      cached.readBy.add(reader);
      return cached.state;
    }
    const state = this.#dump(namespace);
    this.#cached.set(namespace, { state, readBy: new Set([reader]) });
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
