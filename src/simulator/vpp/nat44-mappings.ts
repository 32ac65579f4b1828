import type { Nat44LbAddrPort } from '#vpp/binapi/messages.gen.ts';
import { NONE, retval } from './retval.ts';

/** What VPP keeps of the flags of a message, and two of its own. */
export const mappingFlag = {
  twiceNat: 1,
  selfTwiceNat: 2,
  out2inOnly: 4,
  addressOnly: 8,
  identity: 256,
  loadBalanced: 512,
};

export type LocalEnd = Nat44LbAddrPort;

export interface StaticMapping {
  readonly flags: number;
  readonly local: string;
  readonly external: string;
  readonly localPort: number;
  readonly externalPort: number;
  readonly protocol: number;
  readonly vrf: number;
  readonly tag: string;
  readonly affinity: number;
  /** Of a load balanced one its backends; of an identity one entry a table. */
  readonly locals: LocalEnd[];
}

/** A mapping of whatever address an interface has. */
export interface BoundMapping {
  readonly flags: number;
  readonly local: string;
  readonly localPort: number;
  readonly externalPort: number;
  readonly protocol: number;
  readonly vrf: number;
  readonly swIfIndex: number;
  readonly tag: string;
  isResolved: boolean;
}

/** A mapping as it is asked for; for one that is bound to an interface `external` is not known. */
export type RequestedMapping = Omit<BoundMapping, 'isResolved'> & { readonly external: string };

/** The tables that mappings hold on to: VPP makes those that it does not have. */
export interface TableLocks {
  lock(id: number): void;
  unlock(id: number): void;
}

/** The inside table of a plugin that was enabled without naming one. */
const INSIDE_VRF = 0;

function has(flags: number, flag: number): boolean {
  return (flags & flag) !== 0;
}

function keyOf(address: string, port: number, protocol: number): string {
  return `${address}/${port}/${protocol}`;
}

/** VPP keeps no ports and no protocol of a mapping of whole addresses. */
function normalized(wanted: RequestedMapping): RequestedMapping {
  const { flags, external } = wanted;
  const bare = has(flags, mappingFlag.addressOnly)
    ? { ...wanted, localPort: 0, externalPort: 0, protocol: 0 }
    : wanted;
  if (!has(flags, mappingFlag.identity)) return bare;
  return { ...bare, local: external, localPort: bare.externalPort };
}

function validate(flags: number): number {
  const identity = has(flags, mappingFlag.identity);
  if (identity && has(flags, mappingFlag.out2inOnly)) return retval.UNSUPPORTED;
  const twice = has(flags, mappingFlag.twiceNat) || has(flags, mappingFlag.selfTwiceNat);
  if (twice && (identity || has(flags, mappingFlag.addressOnly))) return retval.UNSUPPORTED;
  return 0;
}

/** Static mappings of NAT44: one local end, several, identities. */
export class StaticMappings {
  readonly #tables: TableLocks;
  readonly #byExternal = new Map<string, StaticMapping>();
  /** Of those that also translate from inside. */
  readonly #byLocal = new Set<string>();
  #bound: BoundMapping[] = [];
  /** The first address of an interface, if it has one. */
  readonly #addressOf: (swIfIndex: number) => string | undefined;

  constructor(tables: TableLocks, addressOf: (swIfIndex: number) => string | undefined) {
    this.#tables = tables;
    this.#addressOf = addressOf;
  }

  get all(): readonly StaticMapping[] {
    return [...this.#byExternal.values()];
  }

  get bound(): readonly BoundMapping[] {
    return this.#bound;
  }

  /**
   * The plugin is disabled: one after the other goes as if it was asked for, but an identity only
   * from table 0, and what has local ends left is dropped with its tables locked for good.
   * @returns retval of the last one
   */
  clear(): number {
    let failed = 0;
    for (const mapping of this.all) {
      const vrf = has(mapping.flags, mappingFlag.identity) ? INSIDE_VRF : mapping.vrf;
      failed = this.#delete({ ...mapping, vrf, swIfIndex: NONE });
    }
    this.#byExternal.clear();
    this.#byLocal.clear();
    this.#bound = [];
    return failed;
  }

  add(wanted: RequestedMapping): number {
    const refused = validate(wanted.flags);
    if (refused !== 0) return refused;
    if (wanted.swIfIndex === NONE) return this.#insert(wanted);
    if (this.#findBound(wanted)) return retval.VALUE_EXIST;
    const { external: _, ...rest } = wanted;
    const record: BoundMapping = { ...rest, isResolved: false };
    this.#bound.push(record);
    const address = this.#addressOf(wanted.swIfIndex);
    if (address === undefined) return 0;
    const failed = this.#insert({ ...wanted, external: address });
    if (failed === 0) record.isResolved = true;
    else this.#bound = this.#bound.filter((other) => other !== record);
    return failed;
  }

  remove(wanted: RequestedMapping): number {
    const refused = validate(wanted.flags);
    if (refused !== 0) return refused;
    if (wanted.swIfIndex === NONE) return this.#delete(wanted);
    const record = this.#findBound(wanted);
    if (!record) return retval.NO_SUCH_ENTRY;
    this.#bound = this.#bound.filter((other) => other !== record);
    const address = this.#addressOf(wanted.swIfIndex);
    return address === undefined ? 0 : this.#delete({ ...wanted, external: address });
  }

  /** An interface got or lost an address. */
  follow(swIfIndex: number, address: string, isAdd: boolean): void {
    for (const record of this.#bound) {
      if (record.swIfIndex !== swIfIndex || record.isResolved === isAdd) continue;
      const wanted = { ...record, external: address };
      const failed = isAdd ? this.#insert(wanted) : this.#delete(wanted);
      if (failed === 0) record.isResolved = isAdd;
    }
  }

  #findBound(wanted: RequestedMapping): BoundMapping | undefined {
    return this.#bound.find((record) => {
      if (record.swIfIndex !== wanted.swIfIndex || record.vrf !== wanted.vrf) return false;
      const identities =
        has(record.flags, mappingFlag.identity) && has(wanted.flags, mappingFlag.identity);
      if (!identities && record.local !== wanted.local) return false;
      if (record.flags & wanted.flags & mappingFlag.addressOnly) return true;
      const sameLocal = identities || record.localPort === wanted.localPort;
      return (
        sameLocal &&
        record.externalPort === wanted.externalPort &&
        record.protocol === wanted.protocol
      );
    });
  }

  #insert(asked: RequestedMapping): number {
    const wanted = normalized(asked);
    const { flags, external, externalPort, protocol, local, localPort } = wanted;
    const key = keyOf(external, externalPort, protocol);
    const identity = has(flags, mappingFlag.identity);
    const known = this.#byExternal.get(key);
    const entry = (vrf_id: number): LocalEnd => ({
      addr: new Uint8Array(4),
      port: 0,
      probability: 0,
      vrf_id,
    });
    if (known) {
      if (!has(known.flags, mappingFlag.identity)) return retval.VALUE_EXIST;
      if (known.locals.some(({ vrf_id }) => vrf_id === wanted.vrf)) return retval.VALUE_EXIST;
      this.#tables.lock(wanted.vrf);
      known.locals.push(entry(wanted.vrf));
      this.#byLocal.add(`${keyOf(known.local, known.localPort, protocol)}/${wanted.vrf}`);
      return 0;
    }
    const vrf = wanted.vrf === NONE ? INSIDE_VRF : wanted.vrf;
    this.#tables.lock(vrf);
    const localKey = `${keyOf(local, localPort, protocol)}/${vrf}`;
    const both = !has(flags, mappingFlag.out2inOnly);
    // the table stays locked for good
    if (both && !identity && this.#byLocal.has(localKey)) return retval.VALUE_EXIST;
    this.#byExternal.set(key, {
      ...wanted,
      vrf,
      affinity: 0,
      locals: identity ? [entry(vrf)] : [],
    });
    if (both) this.#byLocal.add(localKey);
    return 0;
  }

  #delete(asked: RequestedMapping): number {
    const wanted = normalized(asked);
    const key = keyOf(wanted.external, wanted.externalPort, wanted.protocol);
    const known = this.#byExternal.get(key);
    if (!known) return retval.NO_SUCH_ENTRY;
    let { vrf } = known;
    if (has(wanted.flags, mappingFlag.identity)) {
      vrf = wanted.vrf === NONE ? INSIDE_VRF : wanted.vrf;
      // of a balanced one that is taken for an identity all backends in that table
      const left = known.locals.filter(({ vrf_id }) => vrf_id !== vrf);
      if (left.length === known.locals.length) return retval.NO_SUCH_ENTRY;
      known.locals.splice(0, Number.POSITIVE_INFINITY, ...left);
    }
    if (!has(wanted.flags, mappingFlag.out2inOnly))
      this.#byLocal.delete(`${keyOf(wanted.local, wanted.localPort, wanted.protocol)}/${vrf}`);
    // what has local ends left stays, and VPP says that all is well
    if (known.locals.length > 0) {
      if (has(wanted.flags, mappingFlag.identity)) this.#tables.unlock(vrf);
      return 0;
    }
    this.#tables.unlock(vrf);
    this.#byExternal.delete(key);
    return 0;
  }

  /** @param inPool whether the pool has the external address */
  addBalanced(
    wanted: Pick<StaticMapping, 'flags' | 'external' | 'externalPort' | 'protocol' | 'tag'> & {
      readonly affinity: number;
      readonly locals: readonly LocalEnd[];
    },
    inPool: boolean,
  ): number {
    const { external, externalPort, protocol, locals } = wanted;
    const key = keyOf(external, externalPort, protocol);
    if (this.#byExternal.has(key)) return retval.VALUE_EXIST;
    if (locals.length < 2) return retval.INVALID_VALUE;
    const both = !has(wanted.flags, mappingFlag.out2inOnly);
    if (both && !inPool) return retval.NO_SUCH_ENTRY;
    for (const { vrf_id } of locals) this.#tables.lock(vrf_id);
    this.#byExternal.set(key, {
      ...wanted,
      flags: wanted.flags | mappingFlag.loadBalanced,
      local: '0.0.0.0',
      localPort: 0,
      vrf: 0,
      locals: [...locals],
    });
    return 0;
  }

  removeBalanced(external: string, externalPort: number, protocol: number): number {
    const key = keyOf(external, externalPort, protocol);
    const known = this.#byExternal.get(key);
    if (!known) return retval.NO_SUCH_ENTRY;
    if (!has(known.flags, mappingFlag.loadBalanced)) return retval.INVALID_VALUE;
    for (const { vrf_id } of known.locals) this.#tables.unlock(vrf_id);
    this.#byExternal.delete(key);
    return 0;
  }

  changeLocal(
    external: string,
    externalPort: number,
    protocol: number,
    local: LocalEnd,
    isAdd: boolean,
  ): number {
    const known = this.#byExternal.get(keyOf(external, externalPort, protocol));
    if (!known) return retval.NO_SUCH_ENTRY;
    if (!has(known.flags, mappingFlag.loadBalanced)) return retval.INVALID_VALUE;
    const place = known.locals.findIndex(
      ({ addr, port, vrf_id }) =>
        Buffer.compare(addr, local.addr) === 0 && port === local.port && vrf_id === local.vrf_id,
    );
    if (isAdd) {
      if (place >= 0) return retval.VALUE_EXIST;
      this.#tables.lock(local.vrf_id);
      known.locals.push(local);
      return 0;
    }
    if (place < 0) return retval.NO_SUCH_ENTRY;
    if (known.locals.length < 3) return retval.UNSPECIFIED;
    this.#tables.unlock(local.vrf_id);
    known.locals.splice(place, 1);
    return 0;
  }
}
