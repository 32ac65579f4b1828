/** Pushes an event for each change of the DHCP lease of the main interface. */

import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import { firstOfFamily } from '#models/ip.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { EventQueueFullError } from '#plugins/controller/api/errors.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import { type Ipv4NetApi, NodeIpChange, type NodeIpChangePayload } from './api.ts';

export interface LeaseWatchDeps {
  /** Leases by logical name of the interface. */
  readonly leases: NamedMapping<DHCPLease>;
  readonly net: Pick<Ipv4NetApi, 'leasedInterface' | 'nodeAddresses' | 'defaultGateways'>;
  readonly loop: Pick<EventLoop, 'push'>;
  readonly clock: Pick<Clock, 'timer'>;
  readonly log: Logger;
}

/** Delay before a change is pushed again that the event loop rejected. */
const RETRY_MS = 1_000;

/** @returns a function that ends the watch */
export function watchLeases({ leases, net, loop, clock, log }: LeaseWatchDeps): () => void {
  /** Payload of the last pushed event, as text. */
  let pushed = '';
  let retry: Timer | undefined;
  /** Pushes an event with the current lease, if it differs from the known one. */
  const pushChange = (name: string): void => {
    if (name !== net.leasedInterface()) return;
    retry?.cancel();
    retry = undefined;
    const change = changeOf(leases.getValue(name));
    const [address] = change.addresses;
    const text = JSON.stringify(change);
    const gateway = firstOfFamily(net.defaultGateways(), 4) ?? '';
    const leased = firstOfFamily(net.nodeAddresses(), 4);
    const known = leased === address && gateway === change.defaultGateway;
    if (known || text === pushed) {
      if (known) pushed = '';
      return;
    }
    log.info(change, 'DHCP changed the address of this node');
    try {
      loop.push(NodeIpChange.event(change));
      pushed = text;
    } catch (error) {
      // The lease is notified only once, and its next change may be a day away, so the push is retried.
      // A closed loop accepts no more events.
      log.warn({ err: error }, 'event loop rejected the change of the DHCP lease');
      if (error instanceof EventQueueFullError)
        retry = clock.timer(RETRY_MS, () => pushChange(name));
    }
  };
  const end = leases.watch('ipv4net', ({ name }) => pushChange(name));
  return () => {
    retry?.cancel();
    end();
  };
}

function changeOf(lease: DHCPLease | undefined): NodeIpChangePayload {
  if (!lease) return { addresses: [], defaultGateway: '' };
  const [defaultGateway = ''] = lease.router_ip_address.split('/');
  return { addresses: [lease.host_ip_address], defaultGateway };
}
