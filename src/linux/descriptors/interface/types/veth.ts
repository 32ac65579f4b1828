import { allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinkLocation, LinuxHost } from '../../../api.ts';
import { ignoreErrno, ignoreNotFound } from '../../ignored-errors.ts';
import { type LinkMarks, pendingEndName } from '../../link-marks.ts';
import { linkLocation } from '../link-location.ts';
import type { LinkTypeHandler } from './handler.ts';

interface CreatedPair {
  /** Resolves when the pending end is marked. */
  readonly peerMarked: Promise<void>;
}

/** Location of a pending end. */
function pendingLocation(name: string): LinkLocation {
  return { namespace: undefined, name: pendingEndName(name) };
}

function peerOf(value: LinuxInterface): string {
  return value.veth?.peer_if_name ?? '';
}

/** Runs the operations of each pair one after another: its two values use the same two links. */
class PairQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(value: LinuxInterface, work: () => Promise<T>): Promise<T> {
    const pair = [value.name, peerOf(value)].sort().join('/');
    const turn = (this.#last.get(pair) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined);
    this.#last.set(pair, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(pair) === settled) this.#last.delete(pair);
    }
  }
}

/**
 * Two values form one pair. The first value creates both ends: its own in its location, and the other as
 * a pending end in the agent's namespace, from where the second value moves it. Deleting is the reverse:
 * the first delete moves its end back to be pending, the second deletes the pair.
 */
export class Veth implements LinkTypeHandler {
  readonly type = 'VETH';
  readonly isShared = false;
  readonly #host: LinuxHost;
  readonly #marks: LinkMarks;
  readonly #turns = new PairQueue();
  /**
   * Peers by logical name, of the ends in the location of their values, and of pending ends. Read back
   * after a restart, before the first create. A value may have a pending end while its link has another
   * peer or is not a veth.
   */
  readonly #placedPeers = new Map<string, string>();
  readonly #pendingPeers = new Map<string, string>();

  constructor(host: LinuxHost, marks: LinkMarks) {
    this.#host = host;
    this.#marks = marks;
  }

  /** Sets the end that was found in the location of the value. @param peer undefined: no veth */
  setPlacedEnd(name: string, peer: string | undefined): void {
    if (peer === undefined) this.#placedPeers.delete(name);
    else this.#placedPeers.set(name, peer);
  }

  /** Replaces all pending ends: they are in the agent's namespace, which is always read. */
  setPendingEnds(peers: ReadonlyMap<string, string>): void {
    this.#pendingPeers.clear();
    for (const [name, peer] of peers) this.#pendingPeers.set(name, peer);
  }

  validate(key: string, value: LinuxInterface): void {
    const peer = peerOf(value);
    checkField(key, peer !== '', 'veth.peer_if_name', 'missing');
    checkField(key, !peer.includes('/'), 'veth.peer_if_name', 'contains a slash');
    checkField(key, peer !== value.name, 'veth.peer_if_name', 'must name another interface');
  }

  dependencies(): readonly [] {
    return [];
  }

  /**
   * Both ends of a new pair are marked and configured concurrently, each in its namespace.
   */
  create: LinkTypeHandler['create'] = async (value, _ctx, undo, applySettings) => {
    const location = linkLocation(value);
    const metadata = { namespace: location.namespace, hostIfName: location.name };
    const made = await this.#turns.run(value, async () => {
      const isPending = this.#pendingPeers.get(value.name) === peerOf(value);
      if (isPending && (await this.#fetch(value, location))) {
        undo.add(() => this.#turns.run(value, () => this.#putBack(value, location)));
        return undefined;
      }
      const pair = await this.#createPair(value, location);
      undo.add(() => this.#turns.run(value, () => this.#remove(value, location)));
      return pair;
    });
    const mark = made && this.#marks.veth(value.name, peerOf(value));
    await allSettled([applySettings(metadata, mark), ...(made ? [made.peerMarked] : [])]);
    return metadata;
  };

  delete: LinkTypeHandler['delete'] = (value, metadata) => {
    const location = { namespace: metadata.namespace, name: metadata.hostIfName };
    return this.#turns.run(value, async () => {
      const peerStays = this.#placedPeers.get(peerOf(value)) === value.name;
      if (peerStays) await ignoreNotFound(this.#putBack(value, location));
      else await this.#remove(value, location);
      this.#placedPeers.delete(value.name);
    });
  };

  /** @returns false if the end was deleted with its peer */
  async #fetch(value: LinuxInterface, location: LinkLocation): Promise<boolean> {
    const isPending = await ignoreErrno(
      'ENODEV',
      this.#host.moveLink(pendingLocation(value.name), location),
    );
    this.#pendingPeers.delete(value.name);
    if (isPending) this.#placedPeers.set(value.name, peerOf(value));
    return isPending;
  }

  /** A deleted namespace has deleted both ends. */
  async #putBack(value: LinuxInterface, location: LinkLocation): Promise<void> {
    await this.#host.moveLink(location, pendingLocation(value.name));
    this.#placedPeers.delete(value.name);
    this.#pendingPeers.set(value.name, peerOf(value));
  }

  /**
   * Marks the pending end first: it identifies the pair if the agent crashes before the other end is
   * marked.
   */
  async #createPair(value: LinuxInterface, location: LinkLocation): Promise<CreatedPair> {
    const peer = peerOf(value);
    const pending = pendingLocation(peer);
    let peerMarked: Promise<void> = Promise.resolve();
    const make = async (): Promise<void> => {
      const made = this.#host.createVeth(location, pending);
      peerMarked = this.#mark(peer, value.name, pending);
      // the caller awaits it
      peerMarked.catch(() => undefined);
      await made;
    };
    if (!(await ignoreErrno('EEXIST', make()))) {
      // a pending end of an earlier managed pair may be there, for a value whose location has changed
      if (this.#pendingPeers.get(peer) !== value.name) await make();
      await ignoreNotFound(this.#host.deleteLink(undefined, pending.name));
      await make();
    }
    this.#placedPeers.set(value.name, peer);
    this.#pendingPeers.set(peer, value.name);
    return { peerMarked };
  }

  /** Deleting one end deletes the other. */
  async #remove(value: LinuxInterface, location: LinkLocation): Promise<void> {
    await ignoreNotFound(this.#host.deleteLink(location.namespace, location.name));
    const peer = peerOf(value);
    this.#placedPeers.delete(value.name);
    if (this.#pendingPeers.get(peer) === value.name) this.#pendingPeers.delete(peer);
  }

  async #mark(name: string, peer: string, at: LinkLocation): Promise<void> {
    await this.#host.setLink(at.namespace, at.name, { alias: this.#marks.veth(name, peer) });
  }
}
