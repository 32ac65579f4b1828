import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
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
  readonly random: Random;
  readonly log: Logger;
}

/** Backends of a rolling update go one after the other. */
const PAUSE_MS = 100;

const RETRY = { firstMs: 1_000, maxMs: 60_000 } as const;

/** Failures that the log names. */
const NAMED = 5;

export const StaleSocketsError = defineError({
  name: 'StaleSocketsError',
  code: 'CV_SOCKET_NOT_ENDED',
  isRetriable: true,
  remedy:
    'Until their sockets end, processes send to an address that has no receiver. The agent tries again after 1 s to 1 min. With EOPNOTSUPP the kernel cannot end sockets (CONFIG_INET_DIAG_DESTROY): restart the pods of these sockets.',
});

/**
 * Ends connected datagram sockets whose backend is none of their service any more: they would send to an address
 * without a receiver, and never notice. The process gets an error from its next call, and connects again. What was connected is read
 * from the kernel each time, so that nothing depends on a list of what was removed, or on the life of the agent.
 */
export class StaleSockets {
  readonly #deps: StaleSocketsDeps;
  readonly #backoff: Backoff;
  #isRequested = false;
  #isRunning = false;
  #endWait: () => void = () => undefined;
  #failures = 0;
  #connections = 0;
  /** Text of the last attempt; undefined: it did not fail. */
  #fault: string | undefined;

  constructor(deps: StaleSocketsDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(RETRY, deps.random);
  }

  /** Number of sockets that could not be ended, and of namespaces that could not be read, in all attempts. */
  get failures(): number {
    return this.#failures;
  }

  /** Connected datagram sockets when they were searched last. */
  get connections(): number {
    return this.#connections;
  }

  /** Backends were removed, or may have been. */
  request(): void {
    this.#isRequested = true;
    this.#endWait();
    if (!this.#isRunning) void this.#run();
  }

  /** A failed attempt is repeated with the next request, or after a while. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isRequested) {
      await this.#deps.clock.sleep(PAUSE_MS);
      this.#isRequested = false;
      const failures = await this.#endStale();
      this.#failures += failures.length;
      this.#report(failures);
      if (failures.length === 0) this.#backoff.reset();
      else await this.#waitForRequest(this.#backoff.next());
    }
    this.#isRunning = false;
  }

  /** Time is a request, too. */
  async #waitForRequest(ms: number): Promise<void> {
    if (this.#isRequested) return;
    await new Promise<void>((resolve) => {
      const timer = this.#deps.clock.timer(ms, resolve);
      this.#endWait = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#isRequested = true;
  }

  /** An attempt that fails as the one before is not logged. */
  #report(failures: readonly string[]): void {
    const { log } = this.#deps;
    const reasons = [...new Set(failures)];
    const more = reasons.length - NAMED;
    const texts = [...reasons.slice(0, NAMED), ...(more > 0 ? [`${more} more`] : [])];
    const fault = reasons.length > 0 ? texts.join('; ') : undefined;
    if (fault !== undefined && fault !== this.#fault) {
      const { code, message, remedy } = new StaleSocketsError(fault);
      log.warn(
        { code, error: message, remedy },
        'cannot end sockets that are connected to removed backends',
      );
    }
    this.#fault = fault;
  }

  /** @returns texts of what failed */
  async #endStale(): Promise<readonly string[]> {
    const { sockets, connections, isStale, clock, log } = this.#deps;
    const failures: string[] = [];
    try {
      const stale = new Map<bigint, Translation>();
      const entries = await connections.entries(clock);
      this.#connections = entries.length;
      for (const [cookie, bytes] of entries) {
        const translation = translationOf(bytes);
        if (isStale(translation)) stale.set(cookie.readBigUInt64LE(), translation);
      }
      if (stale.size === 0) return [];
      const namespaces: readonly NamespacePath[] = [undefined, ...(await sockets.namespaces())];
      for (const namespace of namespaces) failures.push(...(await this.#endIn(namespace, stale)));
      log.debug({ sockets: stale.size }, 'ended sockets of removed backends');
    } catch (thrown) {
      failures.push(errorText(thrown));
    }
    return failures;
  }

  async #endIn(
    namespace: NamespacePath,
    stale: ReadonlyMap<bigint, Translation>,
  ): Promise<readonly string[]> {
    const { sockets } = this.#deps;
    const failures: string[] = [];
    const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
      try {
        return await work;
      } catch (thrown) {
        if (!isGone(thrown)) failures.push(errorText(thrown));
        return undefined;
      }
    };
    for (const socket of (await attempt(sockets.datagramSockets(namespace))) ?? [])
      if (this.#isToEnd(socket, stale.get(socket.cookie)))
        await attempt(sockets.endDatagramSocket(namespace, socket));
    return failures;
  }

  /** A process may have connected its socket elsewhere meanwhile, and a backend may be back. */
  #isToEnd({ remote }: FoundSocket, translation: Translation | undefined): boolean {
    if (!translation?.backend.equals(encodeEndpoint(remote))) return false;
    return this.#deps.isStale(translation);
  }
}

function translationOf(bytes: Buffer): Translation {
  return {
    service: bytes.subarray(0, ENDPOINT_LENGTH),
    backend: bytes.subarray(ENDPOINT_LENGTH, 2 * ENDPOINT_LENGTH),
  };
}

/** The namespace, or the socket, has ended by itself. */
function isGone(thrown: unknown): boolean {
  return (
    thrown instanceof NamespaceNotFoundError ||
    (thrown instanceof LinuxError && thrown.errno === 'ENOENT')
  );
}
