import type { RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import { bridgeDomainKey } from '#models/vpp/bridge-domain.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type {
  BridgeDomainMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';

/** Logical names by sw_if_index, of the interfaces that were just read back. */
export function interfaceNames(ctx: RetrieveContext): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [key, { swIfIndex }] of ctx.retrieved<VppInterfaceMetadata>('vpp-interface')) {
    const name = vppInterfaceKey.parse(key)?.name;
    if (name !== undefined) names.set(swIfIndex, name);
  }
  return names;
}

/** Names by bd_id, of the bridge domains that were just read back. */
export function bridgeDomainNames(ctx: RetrieveContext): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [key, { bdId }] of ctx.retrieved<BridgeDomainMetadata>('vpp-bridge-domain')) {
    const name = bridgeDomainKey.parse(key)?.name;
    if (name !== undefined) names.set(bdId, name);
  }
  return names;
}
