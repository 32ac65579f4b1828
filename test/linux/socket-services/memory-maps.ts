/** The maps of services at sockets without a kernel, which fill up, and end the agent at a write. */

import { type Entry, type MapEntries, MapFullError } from '#linux/bpf/map.ts';
import type { SocketMaps } from '#linux/socket-services/kernel-table.ts';
import {
  decodeEndpoint,
  decodeFrontend,
  decodeGroup,
  decodeNodeAddress,
} from '#linux/socket-services/layout.ts';
import type { PacketPrograms } from '#linux/socket-services/link-entries.ts';
import { atDestinations } from './some-services.ts';

/** The agent ended before a write. */
export class AgentEndedError extends Error {
  override readonly name = 'AgentEndedError';
}

export type MapName = keyof SocketMaps;

/** Outcome for clients of an address: backends as `address port`; undefined: it is no service's. */
export type Reached = ReadonlySet<string> | 'refused' | undefined;

const text = ({ address, port }: { readonly address: string; readonly port: number }): string =>
  `${address} ${port}`;

/** Every link of the host exists. */
export class MemoryPacketPrograms implements PacketPrograms {
  readonly #links = new Set<number>();

  attach(index: number): void {
    this.#links.add(index);
  }

  detach(index: number): void {
    this.#links.delete(index);
  }

  attached(): readonly number[] {
    return [...this.#links];
  }
}

export class MemoryMaps {
  readonly #entries: Readonly<Record<MapName, Map<string, string>>> = {
    frontends: new Map(),
    nodes: new Map(),
    exemptions: new Map(),
    groups: new Map(),
    slots: new Map(),
    members: new Map(),
    links: new Map(),
  };
  readonly packets = new MemoryPacketPrograms();
  /** Called after each write. */
  onWrite: () => void = () => undefined;
  /** Writes until the agent ends. */
  writesLeft = Number.POSITIVE_INFINITY;
  /** Entries that fit into a map. */
  capacity: Partial<Record<MapName, number>> = {};

  readonly maps: SocketMaps = {
    frontends: this.#map('frontends'),
    nodes: this.#map('nodes'),
    exemptions: this.#map('exemptions'),
    groups: this.#map('groups'),
    slots: this.#map('slots'),
    members: this.#map('members'),
    links: this.#map('links'),
  };

  /** By text of the destination: what programs decide now. */
  reached(): ReadonlyMap<string, Reached> {
    const { frontends, nodes } = this.#entries;
    return atDestinations(
      [...frontends].map(([key, group]) => [
        decodeFrontend(bytes(key)),
        this.#reachedOf(bytes(group).readUInt32LE()),
      ]),
      [...nodes].map(([address, nodePort]) => decodeNodeAddress(bytes(address), bytes(nodePort))),
    );
  }

  size(name: MapName): number {
    return this.#entries[name].size;
  }

  /** Deletes the entry at a place of the order in which they were made. */
  lose(name: MapName, at: number): void {
    const keys = [...this.#entries[name].keys()];
    if (keys.length > 0) this.#entries[name].delete(keys[at % keys.length]!);
  }

  /** Entries to which none leads: of groups without an address, and of groups that do not exist. */
  unused(): readonly string[] {
    const { frontends, groups, slots, members } = this.#entries;
    const used = new Set([...frontends.values()]);
    const found: string[] = [];
    for (const key of groups.keys()) if (!used.has(key)) found.push('group without an address');
    for (const group of frontends.values()) if (!groups.has(group)) found.push('address');
    for (const key of slots.keys()) {
      const head = groups.get(key.slice(0, 4));
      const isUsed = head && bytes(key).readUInt32LE(4) < decodeGroup(bytes(head)).slots;
      if (!isUsed) found.push('slot');
    }
    for (const key of members.keys()) {
      const backend = key.slice(4);
      const group = key.slice(0, 4);
      const slotsOfIt = [...slots].filter(
        ([slot, value]) => slot.startsWith(group) && value === backend,
      );
      if (bytes(members.get(key)!).readUInt32LE() !== slotsOfIt.length) found.push('member');
    }
    return found;
  }

  #reachedOf(group: number): Reached {
    const number = Buffer.alloc(4);
    number.writeUInt32LE(group);
    const key = number.toString('latin1');
    const found = this.#entries.groups.get(key);
    if (found === undefined) return undefined;
    const head = decodeGroup(bytes(found));
    if (head.slots === 0) return 'refused';
    const backends = new Set<string>();
    const at = Buffer.alloc(4);
    for (let slot = 0; slot < head.slots; slot++) {
      at.writeUInt32LE(slot);
      const backend = this.#entries.slots.get(key + at.toString('latin1'));
      if (backend !== undefined) backends.add(text(decodeEndpoint(bytes(backend))));
      else if (slot === 0) return 'refused';
    }
    return backends;
  }

  #map(name: MapName): MapEntries {
    const set = (key: Buffer, value: Buffer): void => {
      const entries = this.#entries[name];
      const keyText = key.toString('latin1');
      const capacity = this.capacity[name] ?? Number.POSITIVE_INFINITY;
      if (!entries.has(keyText) && entries.size >= capacity) throw new MapFullError(name, capacity);
      this.#write(() => entries.set(keyText, value.toString('latin1')));
    };
    return {
      set,
      setAll: async (all) => {
        for (const [key, value] of all) set(key, value);
      },
      delete: (key) => {
        const keyText = key.toString('latin1');
        const isThere = this.#entries[name].has(keyText);
        this.#write(() => this.#entries[name].delete(keyText));
        return isThere;
      },
      entries: async () =>
        [...this.#entries[name]].map(([key, value]): Entry => [bytes(key), bytes(value)]),
    };
  }

  #write(work: () => void): void {
    if (this.writesLeft <= 0) throw new AgentEndedError();
    this.writesLeft--;
    work();
    this.onWrite();
  }
}

function bytes(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}
