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
 * What is bound to interfaces. To VPP the ACLs of an interface are one list, of which the first rule
 * that matches decides: so ours stand in it in the order of their names, whatever the order in
 * which they came, behind those of others. A list is read, changed and set; changes of one
 * interface wait for each other.
 */
export class AclBindings {
  readonly #client: VppClient;
  readonly #queues = new Map<number, Promise<unknown>>();
  /** Of our ACLs, by index. */
  #names = new Map<number, string>();

  constructor(client: VppClient) {
    this.#client = client;
  }

  /** Called with all ACLs that are ours, as they were just read back. */
  replaceAll(names: ReadonlyMap<number, string>): void {
    this.#names = new Map(names);
  }

  add(index: number, name: string): void {
    this.#names.set(index, name);
  }

  /** The next ACL may have got the index, and been learned, before this is called. */
  remove(index: number, name: string): void {
    if (this.#names.get(index) === name) this.#names.delete(index);
  }

  set(swIfIndex: number, direction: Direction, acl: number, isBound: boolean): Promise<void> {
    const before = this.#queues.get(swIfIndex) ?? Promise.resolve();
    const change = before.then(() => this.#change(swIfIndex, direction, acl, isBound));
    // a failure is the caller's to see
    const settled = change.catch(() => undefined);
    this.#queues.set(swIfIndex, settled);
    void settled.then(() => {
      if (this.#queues.get(swIfIndex) === settled) this.#queues.delete(swIfIndex);
    });
    return change;
  }

  /** Takes the ACL off every interface, those of others too. */
  async release(acl: number): Promise<void> {
    const found = await readLists(this.#client, undefined);
    for (const [swIfIndex, lists] of found) {
      for (const direction of ['ingress', 'egress'] as const) {
        if (!lists[direction].includes(acl)) continue;
        await ignoreNotFound(this.set(swIfIndex, direction, acl, false));
      }
    }
  }

  /** Whether the ACL stands behind one of ours that its name comes before. */
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
      // an interface that is gone has nothing bound
      if (!isBound) return;
      throw new VppRefusedError('acl_interface_set_acl_list', INVALID_SW_IF_INDEX);
    }
    const others = lists[direction].filter((each) => each !== acl);
    const wanted = this.#ordered(isBound ? [...others, acl] : others);
    const isSame =
      wanted.length === lists[direction].length &&
      wanted.every((each, position) => each === lists[direction][position]);
    if (isSame) return;
    const ingress = direction === 'ingress' ? wanted : lists.ingress;
    const egress = direction === 'egress' ? wanted : lists.egress;
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

/** By sw_if_index. @param only of this interface; absent: of all */
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
