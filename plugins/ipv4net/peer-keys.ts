import { parseWireguardKey } from '#models/vpp/wireguard-key.ts';
import { type Slot, slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import { NamesByAddress, type Node } from '#plugins/nodesync/api.ts';

/** A key of another node that this one uses. */
export interface PeerKey {
  readonly slot: Slot;
  readonly publicKey: string;
  readonly port: number;
  readonly isReplaced: boolean;
  /** VPP has a session with the node by it. */
  readonly isEstablished: boolean;
}

export interface RefusedKey {
  readonly key: string;
  /** After the key: `is a key of this node`. */
  readonly phrase: string;
}

const MAX_PORT = 65_535;

/**
 * Decides which keys in the records of other nodes are used. VPP has each key once, so a key of this node is used for no
 * other one, and of nodes with the same key the one with the lowest ID has it.
 */
export class PeerKeys {
  readonly #own: ReadonlySet<string>;
  readonly #nodes = new Map<string, Node>();
  readonly #names = new NamesByAddress();

  readonly #established: Set<string>;

  /**
   * @param own public keys of this node
   * @param established keys by which VPP has sessions
   */
  constructor(own: readonly string[], established: Iterable<string>) {
    this.#own = new Set(own);
    this.#established = new Set(established);
  }

  /** Keys by which VPP has sessions. */
  established(): Iterable<string> {
    return this.#established;
  }

  /** A session was established, or has ended. @returns names of the nodes with the key, if it was otherwise before */
  setEstablished(key: string, isEstablished: boolean): readonly string[] {
    if (isEstablished === this.#established.has(key)) return [];
    if (isEstablished) this.#established.add(key);
    else this.#established.delete(key);
    return this.#names.namesOf(key);
  }

  /**
   * Replaces the keys of another node.
   * @param node undefined: it has left
   * @returns names of the nodes about whose keys the decision may be another one now
   */
  set(name: string, node: Node | undefined): Set<string> {
    if (node === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, node);
    const affected = new Set([name]);
    // a record that lists more must not take those of all nodes
    const keys = node?.wireguard?.keys.slice(0, slots.length) ?? [];
    for (const key of this.#names.set(
      name,
      keys.map(({ public_key }) => public_key),
    )) {
      const names = this.#names.namesOf(key);
      for (const one of names) affected.add(one);
      // its peer is deleted: if a node publishes it again, it has no session
      if (names.length === 0) this.#established.delete(key);
    }
    return affected;
  }

  /** Keys of a node that can be used, by slot. */
  of({ name }: Node): readonly PeerKey[] {
    const { wireguard } = this.#nodes.get(name) ?? {};
    return slots.flatMap((slot): PeerKey[] => {
      const key = wireguard?.keys[slot];
      if (!wireguard || !key || this.#whyNot(name, slot) !== undefined) return [];
      const { public_key: publicKey, is_replaced: isReplaced } = key;
      const isEstablished = this.#established.has(publicKey);
      return [{ slot, publicKey, port: wireguard.port + slot, isReplaced, isEstablished }];
    });
  }

  refused({ name }: Node): readonly RefusedKey[] {
    const keys = this.#nodes.get(name)?.wireguard?.keys ?? [];
    return slots.flatMap((slot): RefusedKey[] => {
      const phrase = this.#whyNot(name, slot);
      return phrase === undefined ? [] : [{ key: keys[slot]?.public_key ?? '', phrase }];
    });
  }

  /** After the key; undefined: it is used, or there is none. */
  #whyNot(name: string, slot: Slot): string | undefined {
    const { id = 0, wireguard } = this.#nodes.get(name) ?? {};
    const key = wireguard?.keys[slot]?.public_key;
    if (!wireguard || key === undefined) return undefined;
    const { port, keys } = wireguard;
    const bytes = parseWireguardKey(key);
    if (bytes === undefined || bytes.every((byte) => byte === 0)) return 'is no key of WireGuard';
    if (port < 1 || port + slot > MAX_PORT) return `belongs to port ${port}, which does not exist`;
    if (this.#own.has(key)) return 'is a key of this node';
    if (slot > 0 && keys[0]?.public_key === key) return 'is named twice';
    const owner = this.#names.namesOf(key).find((one) => (this.#nodes.get(one)?.id ?? 0) < id);
    return owner === undefined ? undefined : `is a key of node ${owner}`;
  }
}
