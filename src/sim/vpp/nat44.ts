import { formatIp, parseIp } from '#models/ip.ts';
import { textOfBytes } from '#southbound/vpp/binapi/addresses.ts';
import { Nat44ConfigFlags, NatConfigFlags } from '#southbound/vpp/binapi/enums.gen.ts';
import type { Addresses } from './addresses.ts';
import type { Fib } from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import {
  mappingFlag,
  type StaticMapping,
  StaticMappings,
  type TableLocks,
  type WantedMapping,
} from './nat44-mappings.ts';
import type { Part } from './part.ts';
import { none, retval } from './retval.ts';

const lock = 'nat';
const defaultSessions = 63 * 1024;
const defaultTimeouts = { udp: 300, tcp_established: 7440, tcp_transitory: 240, icmp: 60 };
/** More local ends make VPP count for ever, with a byte. */
const mostLocals = 255;

interface PoolAddress {
  readonly address: string;
  readonly vrf: number;
}

interface NatParts {
  readonly interfaces: Interfaces;
  readonly addresses: Addresses;
  readonly fib: Fib;
  /** VPP ends itself, or does nothing else any more, over some messages. */
  readonly crash: (why: string) => void;
}

/** NAT44, endpoint-dependent. All but reading is refused until the plugin is enabled. */
export class Nat44 {
  readonly #interfaces: Interfaces;
  readonly #fib: Fib;
  readonly #crash: (why: string) => void;
  readonly #mappings: StaticMappings;
  #isEnabled = false;
  #sessions = 0;
  #vrfs = { inside: 0, outside: 0 };
  #forwarding = false;
  /** As they were last, once it was enabled. */
  #timeouts = { udp: 0, tcp_established: 0, tcp_transitory: 0, icmp: 0 };
  readonly #pools: Record<'plain' | 'twice', PoolAddress[]> = { plain: [], twice: [] };
  /** Flags in and out by interface. */
  readonly #features = new Map<number, number>();
  readonly #outputs = new Set<number>();
  readonly #routes = new Map<number, Set<number>>();

  constructor({ interfaces, addresses, fib, crash }: NatParts) {
    this.#interfaces = interfaces;
    this.#fib = fib;
    this.#crash = crash;
    this.#mappings = new StaticMappings(this.#locks(), (index) => {
      const first = addresses.of(index).find(({ address }) => address.length === 4);
      return first && formatIp(first.address);
    });
    interfaces.onRemove(({ index }) => {
      this.#features.delete(index);
      this.#outputs.delete(index);
    });
    addresses.onAddress(({ index }, address, isAdd) => {
      if (address.length === 4) this.#mappings.follow(index, formatIp(address), isAdd);
    });
  }

  #locks(): TableLocks {
    return {
      lock: (id) => {
        const known = this.#fib.find(4, id);
        if (known) this.#fib.lock(known, lock);
        else this.#fib.create(4, id, '', lock);
      },
      unlock: (id) => {
        const known = this.#fib.find(4, id);
        if (known) this.#fib.unlock(known, lock);
      },
    };
  }

  #enable(sessions: number, inside: number, outside: number): number {
    if (this.#isEnabled) return retval.FEATURE_ALREADY_ENABLED;
    this.#isEnabled = true;
    this.#forwarding = false;
    this.#sessions = sessions || defaultSessions;
    this.#vrfs = { inside, outside };
    this.#timeouts = defaultTimeouts;
    // for good: disabling does not let go of them
    for (const id of [inside, outside]) this.#locks().lock(id);
    return 0;
  }

  #disable(): number {
    if (!this.#isEnabled) return retval.FEATURE_ALREADY_DISABLED;
    const failed = this.#mappings.clear();
    for (const pool of [this.#pools.plain, this.#pools.twice])
      for (const { address } of [...pool]) this.#dropAddress(address, pool);
    this.#features.clear();
    this.#outputs.clear();
    for (const id of [...this.#routes.keys()]) this.#setVrfTable(id, false);
    this.#isEnabled = false;
    this.#forwarding = false;
    this.#sessions = 0;
    this.#vrfs = { inside: 0, outside: 0 };
    return failed === 0 ? 0 : retval.BUG;
  }

  #addAddress(address: string, vrf: number, pool: PoolAddress[]): number {
    if (!this.#isEnabled) return retval.UNSUPPORTED;
    if (pool.some((known) => known.address === address)) return retval.VALUE_EXIST;
    if (vrf !== none) this.#locks().lock(vrf);
    pool.push({ address, vrf });
    return 0;
  }

  #dropAddress(address: string, pool: PoolAddress[]): number {
    const place = pool.findIndex((known) => known.address === address);
    const found = pool[place];
    if (!found) return retval.NO_SUCH_ENTRY;
    if (found.vrf !== none) this.#locks().unlock(found.vrf);
    // the last one takes the free place
    const last = pool.pop();
    if (last && last !== found) pool[place] = last;
    return 0;
  }

  #setFeature(index: number, flags: number, isAdd: boolean): number {
    if (!this.#interfaces.get(index)) return retval.INVALID_SW_IF_INDEX;
    if (!this.#isEnabled) return retval.UNSUPPORTED;
    const side =
      flags & NatConfigFlags.NAT_IS_INSIDE
        ? NatConfigFlags.NAT_IS_INSIDE
        : NatConfigFlags.NAT_IS_OUTSIDE;
    const known = this.#features.get(index);
    if (isAdd) {
      if (this.#outputs.has(index)) return retval.VALUE_EXIST;
      this.#features.set(index, (known ?? 0) | side);
      return 0;
    }
    if (known === undefined) return retval.NO_SUCH_ENTRY;
    // one that is only on the other side is lost
    const isBoth = known === (NatConfigFlags.NAT_IS_INSIDE | NatConfigFlags.NAT_IS_OUTSIDE);
    if (isBoth) this.#features.set(index, known & ~side);
    else this.#features.delete(index);
    return 0;
  }

  #setOutput(index: number, isAdd: boolean): number {
    if (!this.#interfaces.get(index)) return retval.INVALID_SW_IF_INDEX;
    if (!this.#isEnabled) return retval.UNSUPPORTED;
    if (!isAdd) return this.#outputs.delete(index) ? 0 : retval.NO_SUCH_ENTRY;
    if (this.#features.has(index) || this.#outputs.has(index)) return retval.VALUE_EXIST;
    this.#outputs.add(index);
    return 0;
  }

  #setRange(
    { first, last }: { first: Uint8Array; last: Uint8Array },
    vrf: number,
    twice: boolean,
    isAdd: boolean,
  ): number {
    const pool = twice ? this.#pools.twice : this.#pools.plain;
    const number = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32BE();
    for (let at = number(first); at <= number(last); at++) {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(at);
      const address = textOfBytes(bytes);
      const failed = isAdd
        ? this.#addAddress(address, vrf, pool)
        : this.#dropAddress(address, pool);
      // those before it stay as they are now
      if (failed !== 0) return failed;
    }
    return 0;
  }

  #setMapping(wanted: WantedMapping, isAdd: boolean): number {
    if (!this.#isEnabled) return retval.UNSUPPORTED;
    return isAdd ? this.#mappings.add(wanted) : this.#mappings.remove(wanted);
  }

  #setVrfTable(id: number, isAdd: boolean): number {
    if (this.#routes.has(id) === isAdd) return isAdd ? retval.VALUE_EXIST : retval.NO_SUCH_ENTRY;
    if (isAdd) this.#routes.set(id, new Set());
    else for (const to of this.#routes.get(id) ?? []) this.#locks().unlock(to);
    if (!isAdd) this.#routes.delete(id);
    if (isAdd) this.#locks().lock(id);
    else this.#locks().unlock(id);
    return 0;
  }

  #setVrfRoute(id: number, to: number, isAdd: boolean): number {
    const routes = this.#routes.get(id);
    if (!routes) return retval.NO_SUCH_ENTRY;
    if (routes.has(to) === isAdd) return isAdd ? retval.VALUE_EXIST : retval.NO_SUCH_ENTRY;
    if (isAdd) routes.add(to);
    else routes.delete(to);
    if (isAdd) this.#locks().lock(to);
    else this.#locks().unlock(to);
    return 0;
  }

  part(): Part {
    return {
      requests: { ...this.#settings(), ...this.#ends() },
      dumps: this.#dumps(),
      snapshot: () => this.#snapshot(),
    };
  }

  #settings(): NonNullable<Part['requests']> {
    return {
      nat44_ed_plugin_enable_disable: ({ enable, flags, sessions, inside_vrf, outside_vrf }) => {
        if (!enable) return this.#disable();
        const unsupported =
          Nat44ConfigFlags.NAT44_IS_STATIC_MAPPING_ONLY |
          Nat44ConfigFlags.NAT44_IS_CONNECTION_TRACKING;
        if (flags & unsupported) return retval.UNSUPPORTED;
        return this.#enable(sessions, inside_vrf, outside_vrf);
      },
      nat44_forwarding_enable_disable: ({ enable }) => {
        this.#forwarding = enable;
        return 0;
      },
      nat44_show_running_config: () => ({
        inside_vrf: this.#vrfs.inside,
        outside_vrf: this.#vrfs.outside,
        users: 0,
        sessions: this.#sessions,
        user_sessions: 0,
        user_buckets: 0,
        translation_buckets: 0,
        forwarding_enabled: this.#forwarding,
        // true with nothing that logs
        ipfix_logging_enabled: true,
        timeouts: this.#timeouts,
        log_level: 0,
        flags: Nat44ConfigFlags.NAT44_IS_ENDPOINT_DEPENDENT,
      }),
      nat_set_timeouts: ({ udp, tcp_established, tcp_transitory, icmp }) => {
        this.#timeouts = { udp, tcp_established, tcp_transitory, icmp };
        return 0;
      },
      nat44_set_session_limit: ({ vrf_id }) => (this.#fib.find(4, vrf_id) ? 0 : retval.UNSPECIFIED),
      nat44_interface_add_del_feature: ({ sw_if_index, flags, is_add }) =>
        this.#setFeature(sw_if_index, flags, is_add),
      nat44_ed_add_del_output_interface: ({ sw_if_index, is_add }) =>
        this.#setOutput(sw_if_index, is_add),
      nat44_add_del_address_range: ({ first_ip_address, last_ip_address, vrf_id, flags, is_add }) =>
        this.#setRange(
          { first: first_ip_address, last: last_ip_address },
          vrf_id,
          (flags & NatConfigFlags.NAT_IS_TWICE_NAT) !== 0,
          is_add,
        ),
      nat44_ed_add_del_vrf_table: ({ table_vrf_id, is_add }) =>
        this.#setVrfTable(table_vrf_id, is_add),
      nat44_ed_add_del_vrf_route: ({ table_vrf_id, vrf_id, is_add }) =>
        this.#setVrfRoute(table_vrf_id, vrf_id, is_add),
      nat44_del_session: () => (this.#isEnabled ? retval.NO_SUCH_ENTRY : retval.UNSUPPORTED),
    };
  }

  #ends(): NonNullable<Part['requests']> {
    const kept =
      mappingFlag.twiceNat |
      mappingFlag.selfTwiceNat |
      mappingFlag.out2inOnly |
      mappingFlag.addressOnly;
    return {
      nat44_add_del_static_mapping_v2: (asked) => {
        const bare = (asked.flags & mappingFlag.addressOnly) !== 0;
        return this.#setMapping(
          {
            flags: asked.flags & kept,
            local: textOfBytes(asked.local_ip_address),
            external: textOfBytes(asked.external_ip_address),
            localPort: bare ? 0 : asked.local_port,
            externalPort: bare ? 0 : asked.external_port,
            protocol: asked.protocol,
            vrf: asked.vrf_id,
            swIfIndex: asked.external_sw_if_index,
            tag: asked.tag,
          },
          asked.is_add,
        );
      },
      nat44_add_del_identity_mapping: (asked) => {
        const bare = (asked.flags & mappingFlag.addressOnly) !== 0;
        const address = textOfBytes(asked.ip_address);
        const port = bare ? 0 : asked.port;
        return this.#setMapping(
          {
            flags: mappingFlag.identity | (bare ? mappingFlag.addressOnly : 0),
            // of one that is bound to an interface VPP takes no address
            local: asked.sw_if_index === none ? address : '0.0.0.0',
            external: address,
            localPort: port,
            externalPort: port,
            protocol: bare ? 0 : asked.protocol,
            vrf: asked.vrf_id,
            swIfIndex: asked.sw_if_index,
            tag: asked.tag,
          },
          asked.is_add,
        );
      },
      nat44_add_del_lb_static_mapping: (asked) => {
        if (asked.locals.length > mostLocals) {
          this.#crash('more local ends than a byte counts');
          return retval.UNSPECIFIED;
        }
        if (!this.#isEnabled) return retval.UNSUPPORTED;
        const external = textOfBytes(asked.external_addr);
        if (!asked.is_add)
          return this.#mappings.removeBalanced(external, asked.external_port, asked.protocol);
        const { twiceNat, selfTwiceNat, out2inOnly } = mappingFlag;
        const twice = asked.flags & twiceNat ? asked.flags & twiceNat : asked.flags & selfTwiceNat;
        return this.#mappings.addBalanced(
          {
            flags: twice | (asked.flags & out2inOnly),
            external,
            externalPort: asked.external_port,
            protocol: asked.protocol,
            tag: asked.tag,
            affinity: asked.affinity,
            locals: asked.locals,
          },
          this.#pools.plain.some(({ address }) => address === external),
        );
      },
      nat44_lb_static_mapping_add_del_local: (asked) => {
        if (!this.#isEnabled) return retval.UNSUPPORTED;
        const external = textOfBytes(asked.external_addr);
        return this.#mappings.changeLocal(
          external,
          asked.external_port,
          asked.protocol,
          asked.local,
          asked.is_add,
        );
      },
    };
  }

  #dumps(): NonNullable<Part['dumps']> {
    const { identity, loadBalanced } = mappingFlag;
    const ofKind = (kind: number): readonly StaticMapping[] =>
      this.#mappings.all.filter(({ flags }) => (flags & (identity | loadBalanced)) === kind);
    const bytes = (address: string): Uint8Array => parseIp(address)!;
    return {
      nat44_interface_dump: () =>
        [...this.#features].map(([sw_if_index, flags]) => ({ sw_if_index, flags })),
      nat44_ed_output_interface_get: () =>
        [...this.#outputs].map((sw_if_index) => ({ sw_if_index })),
      nat44_address_dump: () =>
        (['plain', 'twice'] as const).flatMap((kind) =>
          this.#pools[kind].map(({ address, vrf }) => ({
            ip_address: bytes(address),
            flags: kind === 'twice' ? NatConfigFlags.NAT_IS_TWICE_NAT : 0,
            vrf_id: vrf,
          })),
        ),
      nat44_static_mapping_dump: () => [
        ...ofKind(0).map((mapping) => ({
          flags: mapping.flags,
          local_ip_address: bytes(mapping.local),
          external_ip_address: bytes(mapping.external),
          protocol: mapping.protocol,
          local_port: mapping.localPort,
          external_port: mapping.externalPort,
          external_sw_if_index: none,
          vrf_id: mapping.vrf,
          tag: mapping.tag,
        })),
        ...this.#mappings.bound
          .filter(({ flags }) => !(flags & identity))
          .map((record) => {
            const bare = (record.flags & mappingFlag.addressOnly) !== 0;
            return {
              // VPP leaves the other flags out
              flags: record.flags & (mappingFlag.twiceNat | mappingFlag.addressOnly),
              local_ip_address: bytes(record.local),
              external_ip_address: new Uint8Array(4),
              protocol: bare ? 0 : record.protocol,
              local_port: record.localPort,
              external_port: record.externalPort,
              external_sw_if_index: record.swIfIndex,
              vrf_id: record.vrf,
              tag: record.tag,
            };
          }),
      ],
      nat44_lb_static_mapping_dump: () =>
        ofKind(loadBalanced).map((mapping) => ({
          external_addr: bytes(mapping.external),
          external_port: mapping.externalPort,
          protocol: mapping.protocol,
          flags: mapping.flags & ~loadBalanced,
          // VPP keeps it to itself
          affinity: 0,
          tag: mapping.tag,
          locals: mapping.locals,
        })),
      nat44_identity_mapping_dump: () => [
        ...ofKind(identity).flatMap((mapping) =>
          mapping.locals.map(({ vrf_id }) => ({
            flags: mapping.flags & mappingFlag.addressOnly,
            ip_address: bytes(mapping.local),
            protocol: mapping.protocol,
            port: mapping.localPort,
            sw_if_index: none,
            vrf_id,
            tag: mapping.tag,
          })),
        ),
        ...this.#mappings.bound
          .filter(({ flags }) => flags & identity)
          .map((record) => ({
            flags: record.flags & mappingFlag.addressOnly,
            ip_address: new Uint8Array(4),
            protocol: record.protocol,
            port: record.localPort,
            sw_if_index: record.swIfIndex,
            vrf_id: record.vrf,
            tag: record.tag,
          })),
      ],
      nat44_user_dump: () => [],
      nat44_user_session_v3_dump: () => [],
    };
  }

  #snapshot() {
    const name = (index: number) => this.#interfaces.nameOf(index);
    const { identity, loadBalanced } = mappingFlag;
    const local = ({ addr, port, probability, vrf_id }: StaticMapping['locals'][number]) =>
      `${textOfBytes(addr)}:${port} vrf ${vrf_id} share ${probability}`;
    return {
      nat44: {
        enabled: this.#isEnabled,
        forwarding: this.#forwarding,
        features: [
          ...[...this.#features].map(([index, flags]) => {
            const inside = flags & NatConfigFlags.NAT_IS_INSIDE ? ' in' : '';
            const outside = flags & NatConfigFlags.NAT_IS_OUTSIDE ? ' out' : '';
            return `${name(index)}${inside}${outside}`;
          }),
          ...[...this.#outputs].map((index) => `${name(index)} output`),
        ].sort(),
        pool: this.#pools.plain.map(({ address, vrf }) => `${address} vrf ${vrf}`).sort(),
        twiceNatPool: this.#pools.twice.map(({ address, vrf }) => `${address} vrf ${vrf}`).sort(),
        mappings: this.#mappings.all
          .map((mapping) => {
            const { flags, external, externalPort, protocol, tag, affinity } = mapping;
            const from = `${external}:${externalPort}/${protocol} flags ${flags}`;
            // of an identity in several tables the tag is the one that came first
            if (flags & identity)
              return `${from} to itself in ${mapping.locals.map(({ vrf_id }) => vrf_id).sort()}`;
            if (!(flags & loadBalanced))
              return `${from} to ${mapping.local}:${mapping.localPort} vrf ${mapping.vrf} (${tag})`;
            const ends = mapping.locals.map(local).sort().join(', ');
            return `${from} to ${ends} affinity ${affinity} (${tag})`;
          })
          .sort(),
        bound: this.#mappings.bound
          .map(({ swIfIndex, externalPort, protocol, local: to, localPort, tag }) => {
            return `${name(swIfIndex)}:${externalPort}/${protocol} to ${to}:${localPort} (${tag})`;
          })
          .sort(),
      },
    };
  }
}
