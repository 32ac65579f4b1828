/**
 * Notifies the scheduler of interface state that VPP changes: links that go up or down, DHCP leases
 * that are obtained, changed or expired. VPP's events only trigger a read of the state: they combine
 * all changes of an index with OR, indexes are reused, and a DHCP event is sent to the API client
 * that requested the lease, which is not the client of a restarted agent. An expired lease causes
 * no event at all. Therefore the state of an interface is read after each event about it, and that of
 * all interfaces periodically: an event costs the same among many interfaces as among few.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import { IndexMap, type MappingEvent, type NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import { emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { NotificationSink, NotifiedValue } from '#kvscheduler/api/descriptor.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import { dhcpLeaseKey } from '#models/vpp/interface-state.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppClient } from './binapi/api.ts';
import type { SwInterfaceDetails } from './binapi/messages.gen.ts';
import { ignoreRetvals } from './descriptors/ignored-retvals.ts';
import { type FoundLease, readDhcpClients } from './descriptors/interface/dhcp-dump.ts';
import { dhcpLease } from './descriptors/interface/dhcp-lease.ts';
import { linkState } from './descriptors/interface/link-state.ts';
import { NONE } from './descriptors/limits.ts';
import { tagOf } from './descriptors/tags.ts';
import type { InterfaceStateReports } from './interface-state-reports.ts';

/** Events within this time after the first one are covered by the same read. */
const COLLECT_MS = 50;
/** Interval of reads of all interfaces, which send all notifications again, changed or not: at least, */
const PERIOD_MS = 10_000;
/** and for each interface. A node has one for each other node: among thousands the reads cost as much as among a thousand. */
const PERIOD_OF_INTERFACE_MS = 10;
/** Up to so many interfaces are read one by one. More are read with all others, in one dump. */
const FEW = 32;
const ALREADY_SUBSCRIBED = -31;

export interface InterfaceWatchOptions {
  readonly client: VppClient;
  readonly scheduler: NotificationSink & {
    metadataMap<M>(descriptor: string): NamedMapping<M> | undefined;
  };
  readonly clock: Clock;
  readonly log: Logger;
  /** Gets the state of each interface that was read. */
  readonly reports?: InterfaceStateReports | undefined;
}

export class InterfaceWatch {
  readonly #options: InterfaceWatchOptions;
  /** The interfaces whose links and leases are watched. */
  readonly #interfaces: NamedMapping<VppInterfaceMetadata>;
  readonly #unsubscribers: (() => void)[] = [];
  /** Names of interfaces for which notifications were, or may have been, sent. */
  readonly #names = new Set<string>();
  readonly #notified = new Map<string, Value | null>();
  /** Names of interfaces that may have changed since they were read. */
  #changed = new Set<string>();
  /** Name of a sub-interface to the index of its interface, whose link it has: it gets no event of its own. */
  readonly #subInterfaces: IndexMap<number>;
  #soon: Timer | undefined;
  #periodic: Timer | undefined;
  /** Of two reads at a time, the older state could be sent last. */
  #lastRead = Promise.resolve();

  constructor(needs: InterfaceWatchOptions) {
    this.#options = needs;
    this.#interfaces = this.#mapOf('vpp-interface');
    this.#subInterfaces = new IndexMap('sub-interfaces', needs.log, (index) => ({
      interface: [String(index)],
    }));
  }

  #mapOf<M>(descriptor: string): NamedMapping<M> {
    const map = this.#options.scheduler.metadataMap<M>(descriptor);
    if (map === undefined) throw new TypeError(`the scheduler has no descriptor ${descriptor}`);
    return map;
  }

  start(): void {
    const { client } = this.#options;
    const named = ({ name }: MappingEvent<unknown>): void => {
      this.#names.add(name);
      this.#readSoon([name]);
    };
    for (const name of this.#interfaces.listAllNames()) this.#names.add(name);
    this.#unsubscribers.push(
      client.onEvent('sw_interface_event', (event) => this.#readIndexSoon(event.sw_if_index)),
      client.onEvent('dhcp_compl_event', ({ lease }) => this.#readIndexSoon(lease.sw_if_index)),
      this.#interfaces.watch('interface-watch', named),
      // a DHCP client was added or deleted
      this.#mapOf('vpp-dhcp').watch('interface-watch', ({ name }) => this.#readSoon([name])),
      client.onStateChange((notificationsOf) => {
        if (notificationsOf === 'connected') this.#subscribe();
      }),
    );
    this.#startPeriod();
    if (client.state === 'connected') this.#subscribe();
  }

  close(): void {
    for (const end of this.#unsubscribers.splice(0)) end();
    this.#soon?.cancel();
    this.#periodic?.cancel();
    // a read in progress sends no more notifications
    this.#names.clear();
  }

  /** Subscribes, then reads: changes before the subscription cause no event. */
  #subscribe(): void {
    const { client } = this.#options;
    const subscription = client.request('want_interface_events', { enable_disable: 1, pid: 0 });
    ignoreRetvals(subscription, [ALREADY_SUBSCRIBED]).catch((error) => this.#logFailure(error));
    this.#notified.clear();
    this.#readSoon(this.#names);
  }

  /** Interfaces that the agent does not know yet are read when it knows them. */
  #readIndexSoon(index: number): void {
    this.#readSoon(this.#interfaces.listNames('swIfIndex', String(index)));
    this.#readSoon(this.#subInterfaces.listNames('interface', String(index)));
  }

  #readSoon(names: Iterable<string>): void {
    for (const name of names) this.#changed.add(name);
    if (this.#changed.size === 0 || this.#soon !== undefined) return;
    if (this.#unsubscribers.length === 0) return;
    this.#soon = this.#options.clock.timer(COLLECT_MS, () => {
      this.#soon = undefined;
      void this.#read(false);
    });
  }

  #startPeriod(): void {
    if (this.#unsubscribers.length === 0) return;
    const ms = Math.max(PERIOD_MS, this.#names.size * PERIOD_OF_INTERFACE_MS);
    this.#periodic = this.#options.clock.timer(ms, () => {
      void this.#read(true).then(() => this.#startPeriod());
    });
  }

  /** Reads all interfaces, or those that have changed until all earlier reads have ended. */
  #read(isPeriodic: boolean): Promise<void> {
    this.#lastRead = this.#lastRead.then(async () => {
      const names = isPeriodic ? new Set(this.#names) : this.#changed;
      this.#changed = new Set();
      if (names.size === 0 || this.#options.client.state !== 'connected') return;
      await this.#notify(names, isPeriodic).catch((error) => this.#logFailure(error));
    });
    return this.#lastRead;
  }

  async #notify(names: ReadonlySet<string>, isPeriodic: boolean): Promise<void> {
    const { client, scheduler, clock, reports } = this.#options;
    const [byIndex, leases] = await Promise.all([
      isPeriodic || names.size > FEW
        ? this.#dump([NONE])
        : this.#dump([...names].map((name) => this.#indexOf(name)).filter(isIndex)),
      readDhcpClients(client),
    ]);
    const slices = new Slices(clock);
    const pairs: NotifiedValue[] = [];
    for (const name of names) {
      if (!this.#names.has(name)) continue;
      const index = this.#indexOf(name);
      const found = byIndex.get(index);
      // the index may be from before a restart of VPP
      const isIt = found !== undefined && hasName(found, name);
      if (isIt && found.sup_sw_if_index !== index)
        this.#subInterfaces.put(name, found.sup_sw_if_index);
      reports?.report(name, this.#interfaces.getValue(name)?.type, isIt ? found : undefined);
      for (const pair of state(name, isIt ? found : undefined, leases.get(index))) {
        const { key, value } = pair;
        const known = this.#notified.get(key);
        if (!isPeriodic && known !== undefined && isDeepStrictEqual(known, value)) continue;
        this.#notified.set(key, value);
        pairs.push(pair);
      }
      if (!this.#interfaces.has(name)) this.#forget(name);
      if (slices.due()) await slices.turn();
    }
    if (this.#unsubscribers.length > 0) scheduler.pushNotification(pairs);
  }

  #indexOf(name: string): number {
    return this.#interfaces.getValue(name)?.swIfIndex ?? NONE;
  }

  /** @returns details by index */
  async #dump(indexes: readonly number[]): Promise<ReadonlyMap<number, SwInterfaceDetails>> {
    const { client } = this.#options;
    const dumps = await Promise.all(
      indexes.map((sw_if_index) =>
        client.dump('sw_interface_dump', {
          sw_if_index,
          name_filter_valid: false,
          name_filter: '',
        }),
      ),
    );
    return new Map(dumps.flat().map((each) => [each.sw_if_index, each]));
  }

  #forget(name: string): void {
    this.#names.delete(name);
    this.#subInterfaces.delete(name);
    for (const { key } of state(name, undefined, undefined)) this.#notified.delete(key);
  }

  #logFailure(error: unknown): void {
    const { log } = this.#options;
    log.warn({ error: errorText(error) }, 'cannot read links and leases from VPP; will retry');
  }
}

function isIndex(index: number): boolean {
  return index !== NONE;
}

function hasName({ tag, interface_name }: SwInterfaceDetails, name: string): boolean {
  return tag === tagOf(name) || interface_name === name;
}

/** All notifications about one interface; null means that the state does not exist. */
function state(
  iface: string,
  found: SwInterfaceDetails | undefined,
  lease: FoundLease | undefined,
): readonly NotifiedValue[] {
  const link = found && linkState(found.flags);
  const value = found && lease && dhcpLease(iface, lease);
  const links = (['UP', 'DOWN'] as const).map((each) => ({
    key: linkStateKey.build({ iface, state: each }),
    value: each === link ? emptyValue : null,
  }));
  const key = dhcpLeaseKey.build({ iface });
  return [...links, { key, value: value ?? null, metadata: value }];
}
