import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxHost, VethEnd } from '../../api.ts';
import { require } from '../invalid.ts';
import { type LinkMarks, waitingName } from '../marks.ts';
import { unless, unlessGone } from '../tolerated.ts';
import type { LinkKind } from './kind.ts';
import { placeOf } from './place.ts';

/** In the place that its value names, or in the agent's namespace until its value comes. */
export type EndState = 'placed' | 'waiting';

/** Where an end waits. */
function waitingPlace(name: string): VethEnd {
  return { namespace: undefined, name: waitingName(name) };
}

function peerOf(value: LinuxInterface): string {
  return value.veth?.peer_if_name ?? '';
}

/** One thing after the other for each pair: its two values ask for the same two links. */
class PairTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(value: LinuxInterface, work: () => Promise<T>): Promise<T> {
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
export class Veth implements LinkKind {
  readonly type = 'VETH';
  readonly shared = false;
  readonly #host: LinuxHost;
  readonly #marks: LinkMarks;
  readonly #turns = new PairTurns();
  /** By logical name. Read back after a restart, before anything is created. */
  readonly #ends = new Map<string, EndState>();

  constructor(host: LinuxHost, marks: LinkMarks) {
    this.#host = host;
    this.#marks = marks;
  }

  /** What a look at the kernel has shown of the end with this logical name. */
  note(name: string, found: EndState | undefined): void {
    if (found === undefined) this.#ends.delete(name);
    else this.#ends.set(name, found);
  }

  /** A look at where it would wait has shown that it does not. */
  noteNotWaiting(name: string): void {
    if (this.#ends.get(name) === 'waiting') this.#ends.delete(name);
  }

  validate(key: string, value: LinuxInterface): void {
    const peer = peerOf(value);
    require(key, peer !== '', 'veth.peer_if_name', 'missing');
    require(key, !peer.includes('/'), 'veth.peer_if_name', 'has a slash');
    require(key, peer !== value.name, 'veth.peer_if_name', 'is the interface itself');
  }

  dependencies(): readonly [] {
    return [];
  }

  create: LinkKind['create'] = (value, _ctx, undo) =>
    this.#turns.take(value, async () => {
      const place = placeOf(value);
      const fetched = this.#ends.get(value.name) === 'waiting' && (await this.#fetch(value, place));
      if (fetched) {
        undo.add(() => this.#turns.take(value, () => this.#putBack(value, place)));
      } else {
        await this.#makePair(value, place);
        undo.add(() => this.#turns.take(value, () => this.#remove(value, place)));
        await this.#mark(value.name, peerOf(value), place);
      }
      return { namespace: place.namespace, hostIfName: place.name };
    });

  delete: LinkKind['delete'] = (value, metadata) => {
    const place = { namespace: metadata.namespace, name: metadata.hostIfName };
    return this.#turns.take(value, async () => {
      const peerStays = this.#ends.get(peerOf(value)) === 'placed';
      if (peerStays) await unlessGone(this.#putBack(value, place));
      else await this.#remove(value, place);
      if (this.#ends.get(value.name) === 'placed') this.#ends.delete(value.name);
    });
  };

  /** @returns false when the end has gone, with its peer */
  async #fetch(value: LinuxInterface, place: VethEnd): Promise<boolean> {
    const waits = await unless('ENODEV', this.#host.moveLink(waitingPlace(value.name), place));
    this.#ends.set(value.name, 'placed');
    return waits;
  }

  /** A namespace that is gone has taken both ends along. */
  async #putBack(value: LinuxInterface, place: VethEnd): Promise<void> {
    await this.#host.moveLink(place, waitingPlace(value.name));
    this.#ends.set(value.name, 'waiting');
  }

  /**
   * The end that waits is marked in the same turn, which makes it one run of `ip`: by it the pair is
   * found again when the agent dies before the other end is marked.
   */
  async #makePair(value: LinuxInterface, place: VethEnd): Promise<void> {
    const peer = peerOf(value);
    const waiting = waitingPlace(peer);
    const make = async (): Promise<void> => {
      const made = this.#host.createVeth(place, waiting);
      const marked = this.#mark(peer, value.name, waiting);
      await Promise.allSettled([made, marked]);
      await made;
      try {
        await marked;
      } catch (failure) {
        await unlessGone(this.#host.deleteLink(undefined, waiting.name));
        throw failure;
      }
    };
    if (!(await unless('EEXIST', make()))) {
      // an end may wait there for a value that has since changed its place
      if (this.#ends.get(peer) !== 'waiting') await make();
      await unlessGone(this.#host.deleteLink(undefined, waiting.name));
      await make();
    }
    this.#ends.set(value.name, 'placed');
    this.#ends.set(peer, 'waiting');
  }

  /** An end takes the other one with it. */
  async #remove(value: LinuxInterface, place: VethEnd): Promise<void> {
    await unlessGone(this.#host.deleteLink(place.namespace, place.name));
    this.#ends.delete(value.name);
    this.#ends.delete(peerOf(value));
  }

  async #mark(name: string, peer: string, at: VethEnd): Promise<void> {
    await this.#host.setLink(at.namespace, at.name, { alias: this.#marks.veth(name, peer) });
  }
}
