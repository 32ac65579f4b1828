import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#infra/clock/clock.ts';
import type { Entry, MapEntries } from '../bpf/map.ts';
import { encodeGroup, encodeMember, encodeNumber, encodeSlot, type GroupHead } from './layout.ts';

/** Properties of a group besides its backends. */
export type GroupProperties = Pick<GroupHead, 'affinityTimeout' | 'hostSource'>;

const noProperties: GroupProperties = { affinityTimeout: 0, hostSource: '' };

export interface GroupMaps {
  readonly groups: MapEntries;
  readonly slots: MapEntries;
  readonly members: MapEntries;
}

/**
 * The entries of one group of backends, as the maps have them. Backends are texts of the bytes of their endpoints.
 * The entry of the group is the first that is written and the last that goes: after a crash in between, the rest
 * is found by it.
 */
export class GroupEntries {
  readonly number: number;
  readonly name: string;
  readonly frontends = new Set<string>();
  readonly #maps: GroupMaps;
  #head: GroupHead;
  #isWritten: boolean;
  /** Also those behind the slots of the head, which a crash has left. */
  #slots: (string | undefined)[] = [];
  readonly #members = new Map<string, number>();

  /** @param found its entry, if there is one */
  constructor(maps: GroupMaps, number: number, name: string, found?: GroupHead) {
    this.#maps = maps;
    this.number = number;
    this.name = name;
    this.#head = found ?? { ...noProperties, name, slots: 0 };
    this.#isWritten = found !== undefined;
  }

  get head(): GroupHead {
    return this.#head;
  }

  get slotCount(): number {
    return this.#slots.length;
  }

  get memberCount(): number {
    return this.#members.size;
  }

  has(backend: string): boolean {
    return this.#members.has(backend);
  }

  /** @param number of the slot, or slots of the member */
  found(kind: 'slot' | 'member', number: number, backend: string): void {
    if (kind === 'slot') this.#slots[number] = backend;
    else this.#members.set(backend, number);
  }

  /** Weights of the backends; all 0 if entries are missing or too many, as after a crash. */
  readonly weights = (): ReadonlyMap<string, number> => {
    const counts = countsOf(this.#slots);
    const isWhole =
      this.#slots.length === this.#head.slots &&
      counts.size === this.#members.size &&
      [...counts].every(([backend, count]) => this.#members.get(backend) === count);
    if (isWhole) return counts;
    const all = [...counts.keys(), ...this.#members.keys()];
    return new Map(all.map((backend) => [backend, 0]));
  };

  /**
   * Brings the group to these backends. Clients that choose meanwhile get one that is or was in the group: new backends are
   * members before they have slots, the number of slots grows after these and shrinks before they go.
   * @returns whether backends were removed
   */
  async fill(
    weights: ReadonlyMap<string, number>,
    { affinityTimeout, hostSource }: GroupProperties,
    clock: Clock,
  ): Promise<boolean> {
    const head = { name: this.name, slots: sum(weights.values()), affinityTimeout, hostSource };
    if (!this.#isWritten) this.#writeHead({ ...head, slots: 0 });
    const members = [...weights].filter(([one, count]) => this.#members.get(one) !== count);
    await this.#maps.members.setAll(
      members.map(([one, count]): Entry => [this.#memberKey(one), encodeNumber(count)]),
      clock,
    );
    for (const [one, count] of members) this.#members.set(one, count);
    const slots = arrange(this.#slots, weights);
    await this.#maps.slots.setAll(
      slots.flatMap((one, at): Entry[] =>
        one === this.#slots[at] ? [] : [[encodeSlot(this.number, at), bytesOf(one)]],
      ),
      clock,
    );
    const { length } = this.#slots;
    this.#slots = [...slots, ...this.#slots.slice(slots.length)];
    if (!isDeepStrictEqual(head, this.#head)) this.#writeHead(head);
    for (let at = slots.length; at < length; at++)
      this.#maps.slots.delete(encodeSlot(this.number, at));
    this.#slots = slots;
    const gone = [...this.#members.keys()].filter((one) => !weights.has(one));
    for (const one of gone) {
      this.#maps.members.delete(this.#memberKey(one));
      this.#members.delete(one);
    }
    return gone.length > 0;
  }

  /** Deletes what a change has added that failed before clients found it. */
  async deleteUnused(clock: Clock): Promise<void> {
    const used = countsOf(this.#slots.slice(0, this.#head.slots));
    await this.fill(used, this.#head, clock);
  }

  async remove(clock: Clock): Promise<void> {
    await this.fill(new Map(), noProperties, clock);
    this.#maps.groups.delete(encodeNumber(this.number));
    this.#isWritten = false;
  }

  #writeHead(head: GroupHead): void {
    this.#maps.groups.set(encodeNumber(this.number), encodeGroup(head));
    this.#head = head;
    this.#isWritten = true;
  }

  #memberKey(backend: string): Buffer {
    return encodeMember(this.number, bytesOf(backend));
  }
}

/** Slots for these weights, of which as many as possible have the backend that they had. */
function arrange(
  before: readonly (string | undefined)[],
  weights: ReadonlyMap<string, number>,
): string[] {
  const missing = new Map(weights);
  const length = sum(weights.values());
  const after: (string | undefined)[] = new Array(length);
  const homeless: string[] = [];
  before.forEach((one, at) => {
    const left = one === undefined ? 0 : (missing.get(one) ?? 0);
    if (one === undefined || left === 0) return;
    missing.set(one, left - 1);
    if (at < length) after[at] = one;
    else homeless.push(one);
  });
  for (const [one, count] of missing) for (let each = 0; each < count; each++) homeless.push(one);
  for (let at = 0; at < length; at++) after[at] ??= homeless.pop()!;
  return after as string[];
}

function countsOf(slots: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of slots) if (one !== undefined) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const number of numbers) all += number;
  return all;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
