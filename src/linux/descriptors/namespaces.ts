import type { NetNamespace } from '#models/linux/interface.ts';
import {
  type LinuxHost,
  type LinuxLink,
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

type Dumps = Map<NamespacePath, Promise<NamespaceState | undefined>>;

/**
 * Shares one dump of a namespace among the descriptors of one read-back, until something is changed. The
 * dump of a namespace that no longer exists is undefined.
 */
export class NamespaceDumps {
  readonly #host: LinuxHost;
  #byReadBack = new WeakMap<object, Dumps>();

  constructor(host: LinuxHost) {
    this.#host = host;
  }

  /** Must be called before each change. */
  invalidate(): void {
    this.#byReadBack = new WeakMap();
  }

  /** @param readBack of the descriptor's context */
  read(readBack: object, namespace: NamespacePath): Promise<NamespaceState | undefined> {
    const dumps: Dumps = this.#byReadBack.get(readBack) ?? new Map();
    this.#byReadBack.set(readBack, dumps);
    const state = dumps.get(namespace) ?? this.#dump(namespace);
    dumps.set(namespace, state);
    return state;
  }

  /** None if the namespace no longer exists. */
  async links(readBack: object, namespace: NamespacePath): Promise<readonly LinuxLink[]> {
    return (await this.read(readBack, namespace))?.links ?? [];
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
