/** What DHCP does becomes an event: another lease, or none, of the main interface. */
import type { EventLoop } from '#eventloop/handler.ts';
import type { MappingEvent, NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { type Ipv4NetApi, NodeIpChange, type NodeIpChangePayload } from './api.ts';

export interface LeaseWatchDeps {
  /** Leases by logical name of the interface. */
  readonly leases: NamedMapping<DHCPLease>;
  readonly net: Pick<Ipv4NetApi, 'leasedInterface' | 'nodeAddress' | 'defaultGateway'>;
  readonly loop: Pick<EventLoop, 'push'>;
  readonly log: Logger;
}

/** @returns ends the watch */
export function watchLeases({ leases, net, loop, log }: LeaseWatchDeps): () => void {
  /** What the event says that is still under way, or was the last. */
  let pushed = '';
  return leases.watch('ipv4net', (event) => {
    if (event.name !== net.leasedInterface()) return;
    const change = changeOf(event);
    const [address] = change.addresses;
    const text = JSON.stringify(change);
    const known = net.nodeAddress() === address && net.defaultGateway() === change.defaultGateway;
    if (known || text === pushed) {
      if (known) pushed = '';
      return;
    }
    log.info(change, 'DHCP has changed the address of this node');
    loop.push(NodeIpChange.event(change));
    pushed = text;
  });
}

function changeOf({ value, del }: MappingEvent<DHCPLease>): NodeIpChangePayload {
  if (del) return { addresses: [], defaultGateway: '' };
  const [defaultGateway = ''] = value.router_ip_address.split('/');
  return { addresses: [value.host_ip_address], defaultGateway };
}
