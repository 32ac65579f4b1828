import type { VppClient } from '../../binapi/api.ts';
import { VppRefusedError } from '../../binapi/retval-error.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';

export type Direction = 'ingress' | 'egress';

interface Lists {
  readonly ingress: readonly number[];
  readonly egress: readonly number[];
}

const INVALID_SW_IF_INDEX = -2;

/**
 * ACLs that are bound to interfaces. In VPP the ACLs of an interface are one list, of which the first
 * matching rule decides. Managed ACLs are therefore ordered by name, whatever the order of their
 * creation, after unmanaged ones. A list is read, changed and set; changes of one interface wait for
 * each other.
 */
export class AclBindings {
  readonly #client: VppClient;
  readonly #queues = new Map<number, Promise<unknown>>();
  /** Names of the managed ACLs, by index. */
  #names = new Map<number, string>();

  constructor(client: VppClient) {
    this.#client = client;
  }

  /** Called with all managed ACLs that were just read back. */
  replaceAll(names: ReadonlyMap<number, string>): void {
    this.#names = new Map(names);
  }

  add(index: number, name: string): void {
    this.#names.set(index, name);
  }

  /** A new ACL may have got the index, and been added, before this is called. */
  remove(index: number, name: string): void {
    if (this.#names.get(index) === name) this.#names.delete(index);
  }

  set(swIfIndex: number, direction: Direction, acl: number, isBound: boolean): Promise<void> {
    const before = this.#queues.get(swIfIndex) ?? Promise.resolve();
    const change = before.then(() => this.#change(swIfIndex, direction, acl, isBound));
    // the caller handles a failure
    const settled = change.catch(() => undefined);
    this.#queues.set(swIfIndex, settled);
    void settled.then(() => {
      if (this.#queues.get(swIfIndex) === settled) this.#queues.delete(swIfIndex);
    });
    return change;
  }

  /** Unbinds the ACL from every interface, unmanaged ones too. */
  async release(acl: number): Promise<void> {
    const found = await readLists(this.#client, undefined);
    for (const [swIfIndex, lists] of found) {
      for (const direction of ['ingress', 'egress'] as const) {
        if (!lists[direction].includes(acl)) continue;
        await ignoreNotFound(this.set(swIfIndex, direction, acl, false));
      }
    }
  }

  /** Whether a managed ACL with a later name precedes the ACL. */
  isOutOfOrder(list: readonly number[], acl: number): boolean {
    const name = this.#names.get(acl) ?? '';
    const before = list.slice(0, list.indexOf(acl));
    return before.some((other) => (this.#names.get(other) ?? '') > name);
  }

  async #change(
    sw_if_index: number,
    direction: Direction,
    acl: number,
    isBound: boolean,
  ): Promise<void> {
    const lists = (await readLists(this.#client, sw_if_index)).get(sw_if_index);
    if (lists === undefined) {
      // a deleted interface has no ACLs
      if (!isBound) return;
      throw new VppRefusedError('acl_interface_set_acl_list', INVALID_SW_IF_INDEX);
    }
    const others = lists[direction].filter((each) => each !== acl);
    const desired = this.#ordered(isBound ? [...others, acl] : others);
    const isSame =
      desired.length === lists[direction].length &&
      desired.every((each, position) => each === lists[direction][position]);
    if (isSame) return;
    const ingress = direction === 'ingress' ? desired : lists.ingress;
    const egress = direction === 'egress' ? desired : lists.egress;
    await this.#client.request('acl_interface_set_acl_list', {
      sw_if_index,
      n_input: ingress.length,
      acls: [...ingress, ...egress],
    });
  }

  #ordered(acls: readonly number[]): readonly number[] {
    const rank = (acl: number): string => this.#names.get(acl) ?? '';
    return acls.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
  }
}

/** Lists by sw_if_index. @param only of this interface; undefined: of all */
export async function readLists(
  client: VppClient,
  only: number | undefined,
): Promise<ReadonlyMap<number, Lists>> {
  const fields = only === undefined ? {} : { sw_if_index: only };
  const found = await client.dump('acl_interface_list_dump', fields);
  return new Map(
    found.map(({ sw_if_index, n_input, acls }) => [
      sw_if_index,
      { ingress: acls.slice(0, n_input), egress: acls.slice(n_input) },
    ]),
  );
}
