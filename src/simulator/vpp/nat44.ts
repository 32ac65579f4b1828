import type { Clock } from '#infra/clock/clock.ts';
import { formatIp } from '#models/ip.ts';
import { Nat44ConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { Addresses } from './addresses.ts';
import type { FeatureArcs } from './feature-arcs.ts';
import type { Fib } from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NatFeatures } from './nat44-features.ts';
import { mappingDumps, mappingRequests, mappingSnapshot } from './nat44-mapping-messages.ts';
import { StaticMappings, type TableLocks } from './nat44-mappings.ts';
import { AddressPools } from './nat44-pools.ts';
import { sessionDumps, sessionRequests } from './nat44-session-messages.ts';
import { sessionRemoval } from './nat44-session-removal.ts';
import { NatSessionTable } from './nat44-sessions.ts';
import { VrfRoutes } from './nat44-vrf-routes.ts';
import { retval } from './retval.ts';

const LOCK = 'nat';
const DEFAULT_SESSIONS = 63 * 1024;
const defaultTimeouts = { udp: 300, tcp_established: 7440, tcp_transitory: 240, icmp: 60 };

interface Nat44Dependencies {
  readonly clock: Clock;
  readonly interfaces: Interfaces;
  readonly addresses: Addresses;
  readonly fib: Fib;
  readonly arcs: FeatureArcs;
  /** Some messages crash VPP or make it loop forever. */
  readonly crash: (why: string) => void;
}

/** NAT44, endpoint-dependent. Changes are rejected until the plugin is enabled. */
export class Nat44 {
  readonly crash: (why: string) => void;
  readonly pools: AddressPools;
  readonly mappings: StaticMappings;
  readonly sessions: NatSessionTable;
  readonly #interfaces: Interfaces;
  readonly #fib: Fib;
  readonly #tables: TableLocks;
  readonly #features: NatFeatures;
  readonly #routes: VrfRoutes;
  #isEnabled = false;
  /** The size of the session table. */
  #sessions = 0;
  /** Limits of sessions by table. */
  readonly #limits = new Map<number, number>();
  #vrfs = { inside: 0, outside: 0 };
  #forwarding = false;
  /** The last timeouts; 0 before the plugin was first enabled. */
  #timeouts = { udp: 0, tcp_established: 0, tcp_transitory: 0, icmp: 0 };

  constructor({ clock, interfaces, addresses, fib, arcs, crash }: Nat44Dependencies) {
    this.#interfaces = interfaces;
    this.#fib = fib;
    this.crash = crash;
    this.#tables = fibTableLocks(fib);
    this.#features = new NatFeatures(interfaces, arcs);
    this.#routes = new VrfRoutes(this.#tables);
    this.sessions = new NatSessionTable({
      clock,
      timeouts: () => this.#timeouts,
      limit: (table) => this.#limits.get(table) ?? this.#limits.get(0) ?? this.#sessions,
    });
    this.pools = new AddressPools(this.#tables, (address) =>
      this.sessions.removeAll(
        ({ kind, outside }) =>
          outside.address === address && (kind === 'dynamic' || kind === 'bypass'),
      ),
    );
    this.mappings = new StaticMappings(this.#tables, sessionRemoval(this.sessions), (index) => {
      const first = addresses.of(index).find(({ address }) => address.length === 4);
      return first && formatIp(first.address);
    });
    addresses.onAddress(({ index }, { address }, isAdd) => {
      if (address.length === 4) this.mappings.follow(index, formatIp(address), isAdd);
    });
  }

  get sessionCount(): number {
    return this.sessions.size;
  }

  /** 0 until the plugin is enabled. */
  get sessionLimit(): number {
    return this.#sessions;
  }

  /** The limit of a table that has one of its own: the main table always. */
  limitOf(table: number): number | undefined {
    return this.#limits.get(table) ?? (table === 0 ? this.#sessions : undefined);
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  #enable(sessions: number, inside: number, outside: number): number {
    if (this.#isEnabled) return retval.FEATURE_ALREADY_ENABLED;
    this.#isEnabled = true;
    this.#forwarding = false;
    this.#sessions = sessions || DEFAULT_SESSIONS;
    this.#vrfs = { inside, outside };
    this.#timeouts = defaultTimeouts;
    // permanent: disabling the plugin does not release these locks
    for (const id of [inside, outside]) this.#tables.lock(id);
    return 0;
  }

  #disable(): number {
    if (!this.#isEnabled) return retval.FEATURE_ALREADY_DISABLED;
    const failed = this.mappings.clear();
    this.pools.clear();
    this.#features.clear();
    this.#routes.clear();
    this.sessions.clear();
    this.#isEnabled = false;
    this.#forwarding = false;
    this.#sessions = 0;
    this.#limits.clear();
    this.#vrfs = { inside: 0, outside: 0 };
    return failed === 0 ? 0 : retval.BUG;
  }

  /** Changes a feature of an interface. VPP checks the interface before the plugin's state. */
  #onInterface(index: number, then: () => number): number {
    if (!this.#interfaces.get(index)) return retval.INVALID_SW_IF_INDEX;
    return this.#isEnabled ? then() : retval.UNSUPPORTED;
  }

  handlers(): MessageHandlers {
    return {
      requests: { ...this.#requests(), ...mappingRequests(this), ...sessionRequests(this) },
      dumps: {
        nat44_interface_dump: () => this.#features.dumpSides(),
        nat44_ed_output_interface_get: () => this.#features.dumpOutputs(),
        nat44_address_dump: () => this.pools.dump(),
        // of a VPP without worker threads
        nat_worker_dump: () => [],
        ...mappingDumps(this.mappings),
        ...sessionDumps(this),
      },
      snapshot: () => ({
        nat44: {
          enabled: this.#isEnabled,
          forwarding: this.#forwarding,
          features: this.#features.snapshot(),
          ...this.pools.snapshot(),
          ...mappingSnapshot(this.mappings, (index) => this.#interfaces.nameOf(index)),
        },
      }),
    };
  }

  #requests(): NonNullable<MessageHandlers['requests']> {
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
        if (!enable) this.sessions.removeAll(({ kind }) => kind === 'bypass');
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
        // VPP reports true even if nothing logs
        ipfix_logging_enabled: true,
        timeouts: this.#timeouts,
        log_level: 0,
        flags: Nat44ConfigFlags.NAT44_IS_ENDPOINT_DEPENDENT,
      }),
      nat_set_timeouts: ({ udp, tcp_established, tcp_transitory, icmp }) => {
        this.#timeouts = { udp, tcp_established, tcp_transitory, icmp };
        return 0;
      },
      nat_set_workers: () => retval.FEATURE_DISABLED,
      nat44_set_session_limit: ({ vrf_id, session_limit }) => {
        if (!this.#fib.find(4, vrf_id)) return retval.UNSPECIFIED;
        this.#limits.set(vrf_id, session_limit);
        return 0;
      },
      nat44_interface_add_del_feature: ({ sw_if_index, flags, is_add }) =>
        this.#onInterface(sw_if_index, () => this.#features.setSide(sw_if_index, flags, is_add)),
      nat44_ed_add_del_output_interface: ({ sw_if_index, is_add }) =>
        this.#onInterface(sw_if_index, () => this.#features.setOutput(sw_if_index, is_add)),
      nat44_add_del_address_range: (request) => this.pools.change(request, this.#isEnabled),
      nat44_ed_add_del_vrf_table: ({ table_vrf_id, is_add }) =>
        this.#routes.setTable(table_vrf_id, is_add),
      nat44_ed_add_del_vrf_route: ({ table_vrf_id, vrf_id, is_add }) =>
        this.#routes.setRoute(table_vrf_id, vrf_id, is_add),
    };
  }
}

/** Locks on FIB tables; missing tables are created. */
function fibTableLocks(fib: Fib): TableLocks {
  return {
    lock: (id) => {
      const known = fib.find(4, id);
      if (known) fib.lock(known, LOCK);
      else fib.create(4, id, '', LOCK);
    },
    unlock: (id) => {
      const known = fib.find(4, id);
      if (known) fib.unlock(known, LOCK);
    },
  };
}
