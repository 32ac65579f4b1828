import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { VppClient } from '../../binapi/api.ts';
import { nat44AddressPoolDescriptor } from './address-pool.ts';
import { dnat44Descriptor } from './dnat.ts';
import { nat44GlobalDescriptor } from './global.ts';
import { nat44GlobalAddressDescriptor, nat44GlobalInterfaceDescriptor } from './global-entries.ts';
import { nat44InterfaceDescriptor } from './interface.ts';

/** All descriptors of NAT44. */
export function nat44Descriptors(needs: {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
}): readonly AnyDescriptor[] {
  const { client, clock, log } = needs;
  return [
    nat44GlobalDescriptor(client, log),
    nat44GlobalInterfaceDescriptor(client),
    nat44GlobalAddressDescriptor(client),
    nat44InterfaceDescriptor(client, log),
    nat44AddressPoolDescriptor(client, log),
    dnat44Descriptor(client, clock, log),
  ];
}
