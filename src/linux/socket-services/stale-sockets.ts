import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { LinuxError, type LinuxHost, NamespaceNotFoundError, type NamespacePath } from '../api.ts';
import type { MapEntries } from '../bpf/map.ts';
import type { FoundSocket } from '../netlink/sockets.ts';
import { ENDPOINT_LENGTH, encodeEndpoint } from './layout.ts';

/** Connected datagram sockets of the machine. */
export interface DatagramSockets extends Pick<LinuxHost, 'namespaces'> {
  datagramSockets(namespace: NamespacePath): Promise<readonly FoundSocket[]>;
  endDatagramSocket(namespace: NamespacePath, socket: FoundSocket): Promise<void>;
}

/** Endpoints as bytes of the maps. */
export interface Translation {
  readonly service: Buffer;
  readonly backend: Buffer;
}

export interface StaleSocketsDeps {
  readonly sockets: DatagramSockets;
  /** Connected sockets of datagrams: service and backend by cookie. */
  readonly connections: Pick<MapEntries, 'entries'>;
  /** Whether a socket that was connected by this translation has to connect again. */
  readonly isStale: (translation: Translation) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Backends of a rolling update go one after the other. */
const PAUSE_MS = 100;

const CANNOT_END = 'cannot end sockets that are connected to removed backends';

/**
 * Ends connected datagram sockets whose backend is none of their service any more: they would send to an address
 * without a receiver, and never notice. The process gets an error from its next call, and connects again. What was connected is read
 * from the kernel each time, so that nothing depends on a list of what was removed, or on the life of the agent.
 */
export class StaleSockets {
  readonly #deps: StaleSocketsDeps;
  #isRequested = false;
  #isRunning = false;

  constructor(deps: StaleSocketsDeps) {
    this.#deps = deps;
  }

  /** Backends were removed, or may have been. */
  request(): void {
    this.#isRequested = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps;
    this.#isRunning = true;
    while (this.#isRequested) {
      await clock.sleep(PAUSE_MS);
      this.#isRequested = false;
      try {
        await this.#endStale();
      } catch (thrown) {
        log.warn({ error: errorText(thrown) }, CANNOT_END);
      }
    }
    this.#isRunning = false;
  }

  async #endStale(): Promise<void> {
    const { sockets, connections, isStale, clock, log } = this.#deps;
    const stale = new Map<bigint, Translation>();
    for (const [cookie, bytes] of await connections.entries(clock)) {
      const translation = translationOf(bytes);
      if (isStale(translation)) stale.set(cookie.readBigUInt64LE(), translation);
    }
    if (stale.size === 0) return;
    const namespaces: readonly NamespacePath[] = [undefined, ...(await sockets.namespaces())];
    for (const namespace of namespaces)
      await this.#endStaleOf(namespace, stale).catch((thrown: unknown) => {
        const where = namespace ?? 'host';
        log.warn({ namespace: where, error: errorText(thrown) }, CANNOT_END);
      });
    log.debug({ sockets: stale.size }, 'ended sockets of removed backends');
  }

  /** A process may have connected its socket elsewhere meanwhile, and a backend may be back. */
  async #endStaleOf(
    namespace: NamespacePath,
    stale: ReadonlyMap<bigint, Translation>,
  ): Promise<void> {
    const { sockets, isStale } = this.#deps;
    for (const socket of (await sockets.datagramSockets(namespace).catch(ignoreGone)) ?? []) {
      const translation = stale.get(socket.cookie);
      if (!translation?.backend.equals(encodeEndpoint(socket.remote))) continue;
      if (isStale(translation))
        await sockets.endDatagramSocket(namespace, socket).catch(ignoreGone);
    }
  }
}

function translationOf(bytes: Buffer): Translation {
  return {
    service: bytes.subarray(0, ENDPOINT_LENGTH),
    backend: bytes.subarray(ENDPOINT_LENGTH, 2 * ENDPOINT_LENGTH),
  };
}

/** The namespace, or the socket, has ended by itself. */
function ignoreGone(thrown: unknown): undefined {
  const isGone =
    thrown instanceof NamespaceNotFoundError ||
    (thrown instanceof LinuxError && thrown.errno === 'ENOENT');
  if (!isGone) throw thrown;
}
