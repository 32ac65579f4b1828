import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
/** Entries of the lists of the global NAT44 value: derived from it and read back with it. */
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { nat44AddressKey, nat44FeatureKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { Nat44GlobalAddress, Nat44GlobalInterface } from '#models/vpp/nat.gen.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { addressClaim, type NatAddress, setAddress } from './addresses.ts';
import { featureClaims, setFeature } from './features.ts';
import { featureOfEntry } from './global.ts';
import { ignoreNotFound } from './ignored-retvals.ts';
import { tableDependencies } from './table-dependencies.ts';

/** An entry of the interface list. */
export function nat44GlobalInterfaceDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<Nat44GlobalInterface, undefined> {
  const set = (
    entry: Nat44GlobalInterface,
    isOn: boolean,
    ctx: OperationContext,
  ): Promise<unknown> => {
    const key = vppInterfaceKey.build({ name: entry.name });
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(key);
    return setFeature(client, swIfIndex, featureOfEntry(entry), isOn);
  };
  return defineInternalDescriptor(
    'vpp-nat44-global-interface',
    { keys: [nat44FeatureKey], valueType: Nat44GlobalInterface },
    {
      dependencies: (_key, { name }) => [
        { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
      ],
      claims: (_key, entry) => featureClaims(entry.name, featureOfEntry(entry)),
      async create(_key, entry, ctx) {
        await set(entry, true, ctx);
        return undefined;
      },
      delete: (_key, entry, _metadata, ctx) => ignoreNotFound(set(entry, false, ctx)),
    },
  );
}

/** An entry of the address list. */
export function nat44GlobalAddressDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<Nat44GlobalAddress, undefined> {
  return defineInternalDescriptor(
    'vpp-nat44-global-address',
    { keys: [nat44AddressKey], valueType: Nat44GlobalAddress },
    {
      dependencies: (_key, { vrf_id }) => tableDependencies([vrf_id]),
      claims: (_key, entry) => [addressClaim(natAddress(entry))],
      async create(_key, entry) {
        await setAddress(client, natAddress(entry), true);
        return undefined;
      },
      delete: (_key, entry) => ignoreNotFound(setAddress(client, natAddress(entry), false)),
    },
  );
}

function natAddress({ address, vrf_id, twice_nat }: Nat44GlobalAddress): NatAddress {
  return { address, vrf: vrf_id, twiceNat: twice_nat };
}
