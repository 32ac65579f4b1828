/** What DHCP does becomes an event: another lease, or none, of the main interface. */

import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { EventQueueFullError } from '#plugins/controller/api/errors.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import { type Ipv4NetApi, NodeIpChange, type NodeIpChangePayload } from './api.ts';

export interface LeaseWatchDeps {
  /** Leases by logical name of the interface. */
  readonly leases: NamedMapping<DHCPLease>;
  readonly net: Pick<Ipv4NetApi, 'leasedInterface' | 'nodeAddress' | 'defaultGateway'>;
  readonly loop: Pick<EventLoop, 'push'>;
  readonly clock: Pick<Clock, 'timer'>;
  readonly log: Logger;
}

/** How soon a change is told again that the event loop did not take. */
const RETRY_MS = 1_000;

/** @returns ends the watch */
export function watchLeases({ leases, net, loop, clock, log }: LeaseWatchDeps): () => void {
  /** What the event says that is still under way, or was the last. */
  let pushed = '';
  let retry: Timer | undefined;
  /** Tells of what the lease is now, if that is news. */
  const tell = (name: string): void => {
    if (name !== net.leasedInterface()) return;
    retry?.cancel();
    retry = undefined;
    const change = changeOf(leases.getValue(name));
    const [address] = change.addresses;
    const text = JSON.stringify(change);
    const known = net.nodeAddress() === address && net.defaultGateway() === change.defaultGateway;
    if (known || text === pushed) {
      if (known) pushed = '';
      return;
    }
    log.info(change, 'DHCP has changed the address of this node');
    try {
      loop.push(NodeIpChange.event(change));
      pushed = text;
    } catch (error) {
      // A lease says what it is once; the next word of it may come in a day. The loop that has ended
      // takes nothing any more.
      log.warn({ err: error }, 'the event loop does not take the change of the lease');
      if (error instanceof EventQueueFullError) retry = clock.timer(RETRY_MS, () => tell(name));
    }
  };
  const end = leases.watch('ipv4net', ({ name }) => tell(name));
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
