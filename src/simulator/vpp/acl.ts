import { type AclSessions, AclSessionTable } from '#packet-trace/acl-session.ts';
import { fromPrefix } from '#vpp/binapi/addresses.ts';
import type { AclRule, Prefix } from '#vpp/binapi/messages.gen.ts';
import { IndexPool, type Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

interface Acl {
  readonly tag: string;
  readonly rules: readonly AclRule[];
}

type Direction = 'in' | 'out';
type Bindings = Record<Direction, readonly number[]>;

function isValid({ address, len }: Prefix): boolean {
  return address.af <= 1 && len <= (address.af === 1 ? 128 : 32);
}

function ruleError(rules: readonly AclRule[]): number {
  for (const rule of rules) {
    if (!isValid(rule.src_prefix)) return retval.INVALID_SRC_ADDRESS;
    if (!isValid(rule.dst_prefix)) return retval.INVALID_DST_ADDRESS;
    if (rule.src_prefix.address.af !== rule.dst_prefix.address.af)
      return retval.INVALID_SRC_ADDRESS;
    if (
      rule.srcport_or_icmptype_first > rule.srcport_or_icmptype_last ||
      rule.dstport_or_icmpcode_first > rule.dstport_or_icmpcode_last
    )
      return retval.INVALID_VALUE_2;
  }
  return 0;
}

/** ACLs and the interfaces that they are bound to. */
/** VPP's default. */
const MAX_SESSIONS = 500_000n;

export class Acls {
  readonly #interfaces: Interfaces;
  readonly #lists = new Map<number, Acl>();
  readonly #pool = new IndexPool();
  readonly #bindings = new Map<number, Bindings>();
  readonly #sessions = new AclSessionTable();

  constructor(interfaces: Interfaces) {
    this.#interfaces = interfaces;
    interfaces.onRemove(({ index }) => {
      this.#bindings.delete(index);
      this.#sessions.clear(interfaces.nameOf(index));
    });
  }

  /** Of packet traces. */
  get sessions(): AclSessions {
    return this.#sessions;
  }

  #listsOf(index: number): Bindings {
    return this.#bindings.get(index) ?? { in: [], out: [] };
  }

  /** Sets one direction. Checks in VPP's order: first that each ACL exists, then for duplicates. */
  #set(index: number, direction: Direction, acls: readonly number[]): number {
    const seen = new Set<number>();
    for (const acl of acls) {
      if (!this.#lists.has(acl)) return retval.NO_SUCH_ENTRY;
      if (seen.has(acl)) return retval.ENTRY_ALREADY_EXISTS;
      seen.add(acl);
    }
    const before = this.#listsOf(index);
    // VPP deletes the sessions of the interface if the set of its ACLs changes, but not if their rules do
    const isSame =
      before[direction].length === seen.size &&
      acls.every((acl) => before[direction].includes(acl));
    if (!isSame) this.#sessions.clear(this.#interfaces.nameOf(index));
    this.#bindings.set(index, { ...before, [direction]: acls });
    return 0;
  }

  #addDel(index: number, acl: number, direction: Direction, isAdd: boolean): number {
    if (!this.#interfaces.get(index)) return retval.INVALID_SW_IF_INDEX;
    const present = this.#listsOf(index)[direction];
    if (isAdd) {
      if (!present.includes(acl)) return this.#set(index, direction, [...present, acl]);
      return direction === 'in' ? retval.ACL_IN_USE_INBOUND : retval.ACL_IN_USE_OUTBOUND;
    }
    const at = present.indexOf(acl);
    if (at < 0) return retval.NO_SUCH_ENTRY;
    // VPP moves the last one to the free position
    const left = [...present];
    const last = left.pop();
    if (last !== undefined && at < left.length) left[at] = last;
    return this.#set(index, direction, left);
  }

  #setAll(index: number, inputs: number, acls: readonly number[]): number {
    if (!this.#interfaces.get(index)) return retval.INVALID_SW_IF_INDEX;
    if (acls.some((acl) => !this.#lists.has(acl))) return retval.NO_SUCH_ENTRY;
    const isOutSet = this.#set(index, 'out', acls.slice(inputs)) === 0;
    const isInSet = isOutSet && this.#set(index, 'in', acls.slice(0, inputs)) === 0;
    // VPP returns 1 for any failure
    return isInSet ? 0 : 1;
  }

  #delete(index: number): number {
    if (!this.#lists.has(index)) return retval.NO_SUCH_ENTRY;
    const all = [...this.#bindings.values()];
    if (all.some((bound) => bound.in.includes(index))) return retval.ACL_IN_USE_INBOUND;
    if (all.some((bound) => bound.out.includes(index))) return retval.ACL_IN_USE_OUTBOUND;
    this.#lists.delete(index);
    this.#pool.release(index);
    return 0;
  }

  handlers(): MessageHandlers {
    return {
      requests: {
        acl_add_replace: ({ acl_index, tag, r }) => {
          const refused = ruleError(r);
          if (refused !== 0) return { retval: refused, acl_index };
          if (acl_index !== NONE && !this.#lists.has(acl_index))
            return { retval: retval.NO_SUCH_ENTRY, acl_index };
          const index = acl_index === NONE ? this.#pool.allocate() : acl_index;
          this.#lists.set(index, { tag, rules: r });
          return { acl_index: index };
        },
        acl_del: ({ acl_index }) => this.#delete(acl_index),
        acl_interface_add_del: ({ sw_if_index, acl_index, is_input, is_add }) =>
          this.#addDel(sw_if_index, acl_index, is_input ? 'in' : 'out', is_add),
        acl_interface_set_acl_list: ({ sw_if_index, n_input, acls }) =>
          this.#setAll(sw_if_index, n_input, acls),
        acl_plugin_get_conn_table_max_entries: () => ({ conn_table_max_entries: MAX_SESSIONS }),
      },
      dumps: {
        acl_dump: ({ acl_index }) => details(this.#lists, acl_index),
        acl_interface_list_dump: ({ sw_if_index }) =>
          this.#interfaces
            .all()
            .filter(({ index }) => sw_if_index === NONE || index === sw_if_index)
            .map(({ index }) => {
              const bound = this.#listsOf(index);
              return {
                sw_if_index: index,
                n_input: bound.in.length,
                acls: [...bound.in, ...bound.out],
              };
            }),
      },
      snapshot: () => this.#snapshot(),
    };
  }

  #snapshot() {
    const name = (index: number) => this.#interfaces.nameOf(index);
    const tag = (acl: number) => this.#lists.get(acl)?.tag || `acl:${acl}`;
    return {
      acls: [...this.#lists.values()]
        .map(({ tag: label, rules }) => ({ tag: label, rules: rules.map(textOf) }))
        .sort((a, b) => (a.tag < b.tag ? -1 : 1)),
      aclBindings: [...this.#bindings]
        .filter(([, bound]) => bound.in.length + bound.out.length > 0)
        .map(([index, bound]) => {
          return `${name(index)} in [${bound.in.map(tag)}] out [${bound.out.map(tag)}]`;
        })
        .sort(),
    };
  }
}

function details(lists: ReadonlyMap<number, Acl>, selected: number) {
  return [...lists]
    .filter(([index]) => selected === NONE || index === selected)
    .sort(([a], [b]) => a - b)
    .map(([acl_index, { tag, rules }]) => ({ acl_index, tag, r: rules }));
}

function textOf(rule: AclRule): string {
  const { srcport_or_icmptype_first: from, srcport_or_icmptype_last: to } = rule;
  const { dstport_or_icmpcode_first: first, dstport_or_icmpcode_last: last } = rule;
  const words = [
    ['deny', 'permit', 'reflect'][rule.is_permit] ?? `action ${rule.is_permit}`,
    `proto ${rule.proto}`,
    `${fromPrefix(rule.src_prefix)}:${from}-${to}`,
    `${fromPrefix(rule.dst_prefix)}:${first}-${last}`,
  ];
  if (rule.tcp_flags_mask !== 0) words.push(`flags ${rule.tcp_flags_value}/${rule.tcp_flags_mask}`);
  return words.join(' ');
}
