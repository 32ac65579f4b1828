/**
 * Notifies the scheduler of interface state that VPP changes: links that go up or down, DHCP leases
 * that are obtained, changed or expired. VPP's events only trigger a read of the state: they combine
 * all changes of an index with OR, indexes are reused, and a DHCP event is sent to the API client
 * that requested the lease, which is not the client of a restarted agent. An expired lease causes
 * no event at all. Therefore the state is read after each event and periodically.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { MappingEvent, NamedMapping } from '#infra/idxmap/idxmap.ts';
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

/** Events within this time after the first one are covered by the same read. */
const COLLECT_MS = 50;
/** Interval of periodic reads, which send all notifications again, changed or not. */
const PERIOD_MS = 10_000;
const ALREADY_SUBSCRIBED = -31;

export interface InterfaceWatchOptions {
  readonly client: VppClient;
  readonly scheduler: NotificationSink & {
    metadataMap<M>(descriptor: string): NamedMapping<M> | undefined;
  };
  readonly clock: Clock;
  readonly log: Logger;
}

export class InterfaceWatch {
  readonly #options: InterfaceWatchOptions;
  /** The interfaces whose links and leases are watched. */
  readonly #interfaces: NamedMapping<VppInterfaceMetadata>;
  readonly #unsubscribers: (() => void)[] = [];
  /** Names of interfaces for which notifications were, or may have been, sent. */
  readonly #names = new Set<string>();
  readonly #notified = new Map<string, Value | null>();
  #timer: Timer | undefined;
  #isReadScheduled = false;
  #isReading = false;
  /** An event arrived during a read. */
  #isReadRequested = false;

  constructor(needs: InterfaceWatchOptions) {
    this.#options = needs;
    this.#interfaces = this.#mapOf('vpp-interface');
  }

  #mapOf<M>(descriptor: string): NamedMapping<M> {
    const map = this.#options.scheduler.metadataMap<M>(descriptor);
    if (map === undefined) throw new TypeError(`the scheduler has no descriptor ${descriptor}`);
    return map;
  }

  start(): void {
    const { client } = this.#options;
    const soon = (): void => this.#scheduleRead();
    const named = ({ name }: MappingEvent<unknown>): void => {
      this.#names.add(name);
      soon();
    };
    for (const name of this.#interfaces.listAllNames()) this.#names.add(name);
    this.#unsubscribers.push(
      client.onEvent('sw_interface_event', soon),
      client.onEvent('dhcp_compl_event', soon),
      this.#interfaces.watch('interface-watch', named),
      // a DHCP client was added or deleted
      this.#mapOf('vpp-dhcp').watch('interface-watch', soon),
      client.onStateChange((notificationsOf) => {
        if (notificationsOf === 'connected') this.#subscribe();
      }),
    );
    this.#startTimer(PERIOD_MS);
    if (client.state === 'connected') this.#subscribe();
  }

  close(): void {
    for (const end of this.#unsubscribers.splice(0)) end();
    this.#timer?.cancel();
    this.#timer = undefined;
    // a read in progress sends no more notifications
    this.#names.clear();
  }

  /** Subscribes, then reads: changes before the subscription cause no event. */
  #subscribe(): void {
    const { client } = this.#options;
    const subscription = client.request('want_interface_events', { enable_disable: 1, pid: 0 });
    ignoreRetvals(subscription, [ALREADY_SUBSCRIBED]).catch((error) => this.#logFailure(error));
    this.#notified.clear();
    this.#scheduleRead();
  }

  #scheduleRead(): void {
    if (this.#isReading) this.#isReadRequested = true;
    else if (!this.#isReadScheduled) {
      this.#isReadScheduled = true;
      this.#startTimer(COLLECT_MS);
    }
  }

  #startTimer(ms: number): void {
    this.#timer?.cancel();
    if (this.#unsubscribers.length === 0) return;
    this.#timer = this.#options.clock.timer(ms, () => void this.#read());
  }

  async #read(): Promise<void> {
    const isPeriodic = !this.#isReadScheduled;
    this.#isReading = true;
    this.#isReadScheduled = false;
    try {
      if (this.#options.client.state === 'connected') await this.#notify(isPeriodic);
    } catch (error) {
      this.#logFailure(error);
    }
    this.#isReading = false;
    this.#startTimer(PERIOD_MS);
    if (this.#isReadRequested) {
      this.#isReadRequested = false;
      this.#scheduleRead();
    }
  }

  async #notify(all: boolean): Promise<void> {
    const { client, scheduler } = this.#options;
    const [details, leases] = await Promise.all([
      client.dump('sw_interface_dump', {
        sw_if_index: NONE,
        name_filter_valid: false,
        name_filter: '',
      }),
      readDhcpClients(client),
    ]);
    const byIndex = new Map(details.map((each) => [each.sw_if_index, each]));
    const pairs: NotifiedValue[] = [];
    for (const name of this.#names) {
      const index = this.#interfaces.getValue(name)?.swIfIndex ?? NONE;
      const found = byIndex.get(index);
      // the index may be from before a restart of VPP
      const isIt = found !== undefined && hasName(found, name);
      for (const pair of state(name, isIt ? found : undefined, leases.get(index))) {
        const { key, value } = pair;
        const known = this.#notified.get(key);
        if (!all && known !== undefined && isDeepStrictEqual(known, value)) continue;
        this.#notified.set(key, value);
        pairs.push(pair);
      }
      if (!this.#interfaces.has(name)) this.#forget(name);
    }
    scheduler.pushNotification(pairs);
  }

  #forget(name: string): void {
    this.#names.delete(name);
    for (const { key } of state(name, undefined, undefined)) this.#notified.delete(key);
  }

  #logFailure(error: unknown): void {
    const { log } = this.#options;
    log.warn({ error: errorText(error) }, 'cannot read links and leases from VPP; will retry');
  }
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
