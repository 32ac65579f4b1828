import type { Acl } from '#models/vpp/acl.ts';
import type { VppClient } from '../../binapi/api.ts';
import { VppRefusedError } from '../../binapi/retval-error.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';

export type Direction = 'ingress' | 'egress';

interface Lists {
  readonly ingress: readonly number[];
  readonly egress: readonly number[];
}

interface WantedAcl {
  readonly interfaces: Acl['interfaces'];
  /** Rejected when VPP has refused the ACL, until it is created again. */
  readonly index: Promise<number>;
  /** It was created, and no change of its interfaces has begun since. */
  readonly isNew: boolean;
}

const INVALID_SW_IF_INDEX = -2;

/**
 * ACLs that are bound to interfaces. In VPP the ACLs of an interface are one list, of which the first
 * matching rule decides. Managed ACLs are therefore ordered by name, whatever the order of their
 * creation, after unmanaged ones. A list is read, changed and set; changes of one interface wait for
 * each other.
 *
 * An interface gets its ACLs before it goes up, so that nothing passes it without them: those that
 * exist, and those whose creation has begun. In a transaction, ACLs are created before interfaces.
 */
export class AclBindings {
  readonly #client: VppClient;
  readonly #queues = new Map<number, Promise<unknown>>();
  /** Names of the managed ACLs, by index. */
  #names = new Map<number, string>();
  /** Managed ACLs that exist, are being created, or were refused, by name. */
  #wanted = new Map<string, WantedAcl>();

  constructor(client: VppClient) {
    this.#client = client;
  }

  /**
   * Called with all managed ACLs that were just read back.
   * @param desired by name
   */
  replaceAll(names: ReadonlyMap<number, string>, desired: ReadonlyMap<string, Acl>): void {
    this.#names = new Map(names);
    this.#wanted = new Map(
      [...names].map(([index, name]) => {
        const { interfaces } = desired.get(name) ?? {};
        return [name, { interfaces, index: Promise.resolve(index), isNew: false }];
      }),
    );
  }

  /** Called when the creation begins. @param index rejected if it fails */
  create({ name, interfaces }: Acl, index: Promise<number>): void {
    this.#wanted.set(name, { interfaces, index, isNew: true });
    index.then(
      (created) => this.#names.set(created, name),
      // the creator handles it
      () => undefined,
    );
  }

  update({ name, interfaces }: Acl, index: number): void {
    this.#wanted.set(name, { interfaces, index: Promise.resolve(index), isNew: false });
  }

  remove(index: number, name: string): void {
    this.#wanted.delete(name);
    this.#names.delete(index);
  }

  /**
   * Binds all ACLs that an interface is to have, in one message.
   * @returns undefined when there are none; rejected when one of them was refused
   */
  setAll(swIfIndex: number, iface: string): Promise<void> | undefined {
    const wanted = this.#wantedAt(iface);
    if (wanted.length === 0) return undefined;
    return this.#inTurn(swIfIndex, async () => {
      await Promise.all(wanted.map(({ index }) => index));
      await this.#change(swIfIndex, (list, direction) => {
        // Read now: an ACL may have been deleted while this waited.
        const added = this.#indexesOf(iface, direction);
        return [...list.filter((each) => !added.includes(each)), ...added];
      });
    });
  }

  #wantedAt(iface: string): readonly WantedAcl[] {
    return [...this.#wanted.values()].filter(
      ({ interfaces }) => interfaces?.ingress.includes(iface) || interfaces?.egress.includes(iface),
    );
  }

  #indexesOf(
    iface: string,
    direction: Direction,
    isMeant: (wanted: WantedAcl) => boolean = () => true,
  ): number[] {
    return [...this.#names]
      .filter(([, name]) => {
        const wanted = this.#wanted.get(name);
        return wanted?.interfaces?.[direction].includes(iface) === true && isMeant(wanted);
      })
      .map(([index]) => index);
  }

  /**
   * Binds an ACL, and with it all new ones that the interface is to have, in one message: one at its output without its
   * counterpart at the input would lose replies meanwhile.
   * @param iface its logical name
   */
  bind(swIfIndex: number, iface: string, direction: Direction, acl: number): Promise<void> {
    const others = this.#wantedAt(iface).filter(({ isNew }) => isNew);
    return this.#inTurn(swIfIndex, async () => {
      await Promise.allSettled(others.map(({ index }) => index));
      const found = await this.#change(swIfIndex, (list, of) => {
        const own = of === direction ? [acl] : [];
        const added = this.#indexesOf(iface, of, ({ isNew }) => isNew);
        return [...new Set([...list, ...added, ...own])];
      });
      // a deleted interface has no ACLs
      if (!found) throw new VppRefusedError('acl_interface_set_acl_list', INVALID_SW_IF_INDEX);
    });
  }

  unbind(swIfIndex: number, direction: Direction, acl: number): Promise<void> {
    const name = this.#names.get(acl);
    const wanted = name === undefined ? undefined : this.#wanted.get(name);
    if (name !== undefined && wanted) this.#wanted.set(name, { ...wanted, isNew: false });
    return this.#inTurn(swIfIndex, async () => {
      await this.#change(swIfIndex, (list, of) =>
        of === direction ? list.filter((each) => each !== acl) : list,
      );
    });
  }

  #inTurn(swIfIndex: number, run: () => Promise<void>): Promise<void> {
    const before = this.#queues.get(swIfIndex) ?? Promise.resolve();
    const change = before.then(run);
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
        await ignoreNotFound(this.unbind(swIfIndex, direction, acl));
      }
    }
  }

  /** Whether a managed ACL with a later name precedes the ACL. */
  isOutOfOrder(list: readonly number[], acl: number): boolean {
    const name = this.#names.get(acl) ?? '';
    const before = list.slice(0, list.indexOf(acl));
    return before.some((other) => (this.#names.get(other) ?? '') > name);
  }

  /** @returns whether the interface exists */
  async #change(
    sw_if_index: number,
    change: (list: readonly number[], direction: Direction) => readonly number[],
  ): Promise<boolean> {
    const lists = (await readLists(this.#client, sw_if_index)).get(sw_if_index);
    if (lists === undefined) return false;
    const changed = (direction: Direction): readonly number[] => {
      const desired = this.#ordered(change(lists[direction], direction));
      return isSame(desired, lists[direction]) ? lists[direction] : desired;
    };
    const [ingress, egress] = [changed('ingress'), changed('egress')];
    if (ingress === lists.ingress && egress === lists.egress) return true;
    await this.#client.request('acl_interface_set_acl_list', {
      sw_if_index,
      n_input: ingress.length,
      acls: [...ingress, ...egress],
    });
    return true;
  }

  #ordered(acls: readonly number[]): readonly number[] {
    const rank = (acl: number): string => this.#names.get(acl) ?? '';
    return acls.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
  }
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((each, position) => each === b[position]);
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
