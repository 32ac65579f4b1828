/** `/dump/vpp/v2/nat/…`. */
import type { Route } from '#infra/http/route.ts';
import type { MessageModel } from '#models/define.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { type DocumentDeps, documentRoute, listOf } from '../document.ts';
import { structJsonOf } from '../message-json.ts';

export function nat44Documents({ southbound, clock }: DocumentDeps): Route[] {
  const read = async <T extends object>(descriptor: string, model: MessageModel<T>) => {
    const found = await southbound.read<T>(descriptor);
    return listOf(clock, found, ({ value }) => structJsonOf(model, value));
  };
  return [
    documentRoute('/dump/vpp/v2/nat/global', 'global settings of NAT44', clock, async () => {
      const [global = {}] = (await read('vpp-nat44-global', nat44GlobalModel)) ?? [];
      return global;
    }),
    documentRoute('/dump/vpp/v2/nat/dnat', 'mappings of NAT44', clock, () =>
      read('vpp-nat44-dnat', dnat44Model),
    ),
    documentRoute('/dump/vpp/v2/nat/interfaces', 'interfaces with NAT44', clock, () =>
      read('vpp-nat44-interface', nat44InterfaceModel),
    ),
    documentRoute('/dump/vpp/v2/nat/pools', 'address pools of NAT44', clock, () =>
      read('vpp-nat44-address-pool', nat44AddressPoolModel),
    ),
  ];
}
