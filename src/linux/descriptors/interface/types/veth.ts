import { allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinkLocation, LinuxHost } from '../../../api.ts';
import { ignoreErrno, ignoreNotFound } from '../../ignored-errors.ts';
import { type LinkMarks, pendingEndName } from '../../link-marks.ts';
import { linkLocation } from '../link-location.ts';
import type { LinkTypeHandler } from './handler.ts';

interface CreatedPair {
  /** When the end that waits has its mark. */
  readonly peerMarked: Promise<void>;
}

/** Where an end waits. */
function pendingLocation(name: string): LinkLocation {
  return { namespace: undefined, name: pendingEndName(name) };
}

function peerOf(value: LinuxInterface): string {
  return value.veth?.peer_if_name ?? '';
}

/** One thing after the other for each pair: its two values ask for the same two links. */
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
 * Two values make one pair. The first one makes both ends: its own in its place, the other one
 * waiting in the agent's namespace, from where the second value fetches it. Deleting goes the same
 * way back: the first one lets its end wait, the second one takes the pair away.
 */
export class Veth implements LinkTypeHandler {
  readonly type = 'VETH';
  readonly isShared = false;
  readonly #host: LinuxHost;
  readonly #marks: LinkMarks;
  readonly #turns = new PairQueue();
  /**
   * Peers by logical name of the ends that are in the place that their values name, and of those that
   * wait for their values. Read back after a restart, before anything is created. While a value has
   * another peer or is no veth, an end may wait for it beside it.
   */
  readonly #placed = new Map<string, string>();
  readonly #waiting = new Map<string, string>();

  constructor(host: LinuxHost, marks: LinkMarks) {
    this.#host = host;
    this.#marks = marks;
  }

  /** What a look at the kernel has shown in the place of the value. @param peer undefined: no veth */
  setPlacedEnd(name: string, peer: string | undefined): void {
    if (peer === undefined) this.#placed.delete(name);
    else this.#placed.set(name, peer);
  }

  /** All that waits: the agent's namespace, where it would, is always looked at. */
  setPendingEnds(peers: ReadonlyMap<string, string>): void {
    this.#waiting.clear();
    for (const [name, peer] of peers) this.#waiting.set(name, peer);
  }

  validate(key: string, value: LinuxInterface): void {
    const peer = peerOf(value);
    checkField(key, peer !== '', 'veth.peer_if_name', 'missing');
    checkField(key, !peer.includes('/'), 'veth.peer_if_name', 'has a slash');
    checkField(key, peer !== value.name, 'veth.peer_if_name', 'is the interface itself');
  }

  dependencies(): readonly [] {
    return [];
  }

  /**
   * A pair just made is marked at both ends and set up at once, in their two namespaces: the end of
   * this value in one run of `ip`.
   */
  create: LinkTypeHandler['create'] = async (value, _ctx, undo, settle) => {
    const place = linkLocation(value);
    const metadata = { namespace: place.namespace, hostIfName: place.name };
    const made = await this.#turns.run(value, async () => {
      const waits = this.#waiting.get(value.name) === peerOf(value);
      if (waits && (await this.#fetch(value, place))) {
        undo.add(() => this.#turns.run(value, () => this.#putBack(value, place)));
        return undefined;
      }
      const pair = await this.#makePair(value, place);
      undo.add(() => this.#turns.run(value, () => this.#remove(value, place)));
      return pair;
    });
    const mark = made && this.#marks.veth(value.name, peerOf(value));
    await allSettled([settle(metadata, mark), ...(made ? [made.peerMarked] : [])]);
    return metadata;
  };

  delete: LinkTypeHandler['delete'] = (value, metadata) => {
    const place = { namespace: metadata.namespace, name: metadata.hostIfName };
    return this.#turns.run(value, async () => {
      const peerStays = this.#placed.get(peerOf(value)) === value.name;
      if (peerStays) await ignoreNotFound(this.#putBack(value, place));
      else await this.#remove(value, place);
      this.#placed.delete(value.name);
    });
  };

  /** @returns false when the end has gone, with its peer */
  async #fetch(value: LinuxInterface, place: LinkLocation): Promise<boolean> {
    const waits = await ignoreErrno(
      'ENODEV',
      this.#host.moveLink(pendingLocation(value.name), place),
    );
    this.#waiting.delete(value.name);
    if (waits) this.#placed.set(value.name, peerOf(value));
    return waits;
  }

  /** A namespace that is gone has taken both ends along. */
  async #putBack(value: LinuxInterface, place: LinkLocation): Promise<void> {
    await this.#host.moveLink(place, pendingLocation(value.name));
    this.#placed.delete(value.name);
    this.#waiting.set(value.name, peerOf(value));
  }

  /**
   * The end that waits is marked first of all: by it the pair is found again when the agent dies
   * before the other end is marked.
   */
  async #makePair(value: LinuxInterface, place: LinkLocation): Promise<CreatedPair> {
    const peer = peerOf(value);
    const waiting = pendingLocation(peer);
    let peerMarked: Promise<void> = Promise.resolve();
    const make = async (): Promise<void> => {
      const made = this.#host.createVeth(place, waiting);
      peerMarked = this.#mark(peer, value.name, waiting);
      // a failure is for those who wait for it
      peerMarked.catch(() => undefined);
      await made;
    };
    if (!(await ignoreErrno('EEXIST', make()))) {
      // an end of an earlier pair of ours may wait there, for a value that has since changed its place
      if (this.#waiting.get(peer) !== value.name) await make();
      await ignoreNotFound(this.#host.deleteLink(undefined, waiting.name));
      await make();
    }
    this.#placed.set(value.name, peer);
    this.#waiting.set(peer, value.name);
    return { peerMarked };
  }

  /** An end takes the other one with it. */
  async #remove(value: LinuxInterface, place: LinkLocation): Promise<void> {
    await ignoreNotFound(this.#host.deleteLink(place.namespace, place.name));
    const peer = peerOf(value);
    this.#placed.delete(value.name);
    if (this.#waiting.get(peer) === value.name) this.#waiting.delete(peer);
  }

  async #mark(name: string, peer: string, at: LinkLocation): Promise<void> {
    await this.#host.setLink(at.namespace, at.name, { alias: this.#marks.veth(name, peer) });
  }
}
