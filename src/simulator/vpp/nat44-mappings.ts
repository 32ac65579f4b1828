import type { Nat44LbAddrPort } from '#vpp/binapi/messages.gen.ts';
import { NONE, retval } from './retval.ts';

/** The message flags that VPP stores, and two internal flags. */
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
  /** Backends of a load-balanced mapping; one entry per table of an identity. */
  readonly locals: LocalEnd[];
}

/** A mapping whose external address is that of an interface. */
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

/** A mapping as in a request; `external` is unknown if the mapping is bound to an interface. */
export type RequestedMapping = Omit<BoundMapping, 'isResolved'> & { readonly external: string };

/** Locks of mappings on tables: VPP creates missing tables. */
export interface TableLocks {
  lock(id: number): void;
  unlock(id: number): void;
}

/** Called when VPP deletes the sessions of what was removed. */
export interface SessionRemoval {
  /** A mapping with one local end. */
  ofMapping(mapping: StaticMapping): void;
  /** A load-balanced mapping. */
  ofBalanced(mapping: StaticMapping): void;
  /** A local end of a load-balanced mapping. */
  ofLocal(local: LocalEnd): void;
}

/** Default inside table of the plugin. */
const INSIDE_VRF = 0;

function has(flags: number, flag: number): boolean {
  return (flags & flag) !== 0;
}

function keyOf(address: string, port: number, protocol: number): string {
  return `${address}/${port}/${protocol}`;
}

/** VPP stores no ports and no protocol for an address-only mapping. */
function normalized(requested: RequestedMapping): RequestedMapping {
  const { flags, external } = requested;
  const mapping = has(flags, mappingFlag.addressOnly)
    ? { ...requested, localPort: 0, externalPort: 0, protocol: 0 }
    : requested;
  if (!has(flags, mappingFlag.identity)) return mapping;
  return { ...mapping, local: external, localPort: mapping.externalPort };
}

function validate(flags: number): number {
  const identity = has(flags, mappingFlag.identity);
  if (identity && has(flags, mappingFlag.out2inOnly)) return retval.UNSUPPORTED;
  const twice = has(flags, mappingFlag.twiceNat) || has(flags, mappingFlag.selfTwiceNat);
  if (twice && (identity || has(flags, mappingFlag.addressOnly))) return retval.UNSUPPORTED;
  return 0;
}

/** Static mappings of NAT44: with one local end, load-balanced, and identities. */
export class StaticMappings {
  readonly #tables: TableLocks;
  readonly #byExternal = new Map<string, StaticMapping>();
  /** Local ends of mappings that also translate from inside. */
  readonly #byLocal = new Set<string>();
  #bound: BoundMapping[] = [];
  /** The first address of an interface, if it has one. */
  readonly #addressOf: (swIfIndex: number) => string | undefined;

  readonly #sessions: SessionRemoval;

  constructor(
    tables: TableLocks,
    sessions: SessionRemoval,
    addressOf: (swIfIndex: number) => string | undefined,
  ) {
    this.#tables = tables;
    this.#sessions = sessions;
    this.#addressOf = addressOf;
  }

  get all(): readonly StaticMapping[] {
    return [...this.#byExternal.values()];
  }

  get bound(): readonly BoundMapping[] {
    return this.#bound;
  }

  /**
   * Called when the plugin is disabled. Deletes each mapping as if by request, but an identity only
   * from table 0; mappings that then still have local ends are dropped, and their tables stay locked.
   * @returns retval of the last deletion
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

  add(requested: RequestedMapping): number {
    const refused = validate(requested.flags);
    if (refused !== 0) return refused;
    if (requested.swIfIndex === NONE) return this.#insert(requested);
    if (this.#findBound(requested)) return retval.VALUE_EXIST;
    const { external: _, ...rest } = requested;
    const record: BoundMapping = { ...rest, isResolved: false };
    this.#bound.push(record);
    const address = this.#addressOf(requested.swIfIndex);
    if (address === undefined) return 0;
    const failed = this.#insert({ ...requested, external: address });
    if (failed === 0) record.isResolved = true;
    else this.#bound = this.#bound.filter((other) => other !== record);
    return failed;
  }

  remove(requested: RequestedMapping): number {
    const refused = validate(requested.flags);
    if (refused !== 0) return refused;
    if (requested.swIfIndex === NONE) return this.#delete(requested);
    const record = this.#findBound(requested);
    if (!record) return retval.NO_SUCH_ENTRY;
    this.#bound = this.#bound.filter((other) => other !== record);
    const address = this.#addressOf(requested.swIfIndex);
    return address === undefined ? 0 : this.#delete({ ...requested, external: address });
  }

  /** Called when an interface gets or loses an address. */
  follow(swIfIndex: number, address: string, isAdd: boolean): void {
    for (const record of this.#bound) {
      if (record.swIfIndex !== swIfIndex || record.isResolved === isAdd) continue;
      const requested = { ...record, external: address };
      const failed = isAdd ? this.#insert(requested) : this.#delete(requested);
      if (failed === 0) record.isResolved = isAdd;
    }
  }

  #findBound(requested: RequestedMapping): BoundMapping | undefined {
    return this.#bound.find((record) => {
      if (record.swIfIndex !== requested.swIfIndex || record.vrf !== requested.vrf) return false;
      const identities =
        has(record.flags, mappingFlag.identity) && has(requested.flags, mappingFlag.identity);
      if (!identities && record.local !== requested.local) return false;
      if (record.flags & requested.flags & mappingFlag.addressOnly) return true;
      const sameLocal = identities || record.localPort === requested.localPort;
      return (
        sameLocal &&
        record.externalPort === requested.externalPort &&
        record.protocol === requested.protocol
      );
    });
  }

  #insert(request: RequestedMapping): number {
    const requested = normalized(request);
    const { flags, external, externalPort, protocol, local, localPort } = requested;
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
      if (known.locals.some(({ vrf_id }) => vrf_id === requested.vrf)) return retval.VALUE_EXIST;
      this.#tables.lock(requested.vrf);
      known.locals.push(entry(requested.vrf));
      this.#byLocal.add(`${keyOf(known.local, known.localPort, protocol)}/${requested.vrf}`);
      return 0;
    }
    const vrf = requested.vrf === NONE ? INSIDE_VRF : requested.vrf;
    this.#tables.lock(vrf);
    const localKey = `${keyOf(local, localPort, protocol)}/${vrf}`;
    const both = !has(flags, mappingFlag.out2inOnly);
    // the table stays locked, as in VPP
    if (both && !identity && this.#byLocal.has(localKey)) return retval.VALUE_EXIST;
    this.#byExternal.set(key, {
      ...requested,
      vrf,
      affinity: 0,
      locals: identity ? [entry(vrf)] : [],
    });
    if (both) this.#byLocal.add(localKey);
    return 0;
  }

  #delete(request: RequestedMapping): number {
    const requested = normalized(request);
    const key = keyOf(requested.external, requested.externalPort, requested.protocol);
    const known = this.#byExternal.get(key);
    if (!known) return retval.NO_SUCH_ENTRY;
    let { vrf } = known;
    if (has(requested.flags, mappingFlag.identity)) {
      vrf = requested.vrf === NONE ? INSIDE_VRF : requested.vrf;
      // a load-balanced mapping treated as an identity loses all backends in that table
      const left = known.locals.filter(({ vrf_id }) => vrf_id !== vrf);
      if (left.length === known.locals.length) return retval.NO_SUCH_ENTRY;
      known.locals.splice(0, Number.POSITIVE_INFINITY, ...left);
    }
    if (!has(requested.flags, mappingFlag.out2inOnly))
      this.#byLocal.delete(
        `${keyOf(requested.local, requested.localPort, requested.protocol)}/${vrf}`,
      );
    this.#sessions.ofMapping({ ...known, vrf });
    // a mapping with remaining local ends stays, and VPP reports success
    if (known.locals.length > 0) {
      if (has(requested.flags, mappingFlag.identity)) this.#tables.unlock(vrf);
      return 0;
    }
    this.#tables.unlock(vrf);
    this.#byExternal.delete(key);
    return 0;
  }

  /** @param inPool whether the address pool contains the external address */
  addBalanced(
    requested: Pick<StaticMapping, 'flags' | 'external' | 'externalPort' | 'protocol' | 'tag'> & {
      readonly affinity: number;
      readonly locals: readonly LocalEnd[];
    },
    inPool: boolean,
  ): number {
    const { external, externalPort, protocol, locals } = requested;
    const key = keyOf(external, externalPort, protocol);
    if (this.#byExternal.has(key)) return retval.VALUE_EXIST;
    if (locals.length < 2) return retval.INVALID_VALUE;
    const both = !has(requested.flags, mappingFlag.out2inOnly);
    if (both && !inPool) return retval.NO_SUCH_ENTRY;
    for (const { vrf_id } of locals) this.#tables.lock(vrf_id);
    this.#byExternal.set(key, {
      ...requested,
      flags: requested.flags | mappingFlag.loadBalanced,
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
    this.#sessions.ofBalanced(known);
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
    this.#sessions.ofLocal(local);
    return 0;
  }
}
