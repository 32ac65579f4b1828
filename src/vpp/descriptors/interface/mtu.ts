import type { VppClient } from '../../binapi/api.ts';
import type { SwInterfaceDetails } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';
import { DEFAULT_MTU, type InterfaceTypeHandler } from './types/handler.ts';

/** The MTU of layer 3 with which VPP creates such an interface. */
export function defaultMtu(
  { mtu }: Pick<InterfaceTypeHandler, 'mtu'>,
  { link_mtu }: Pick<SwInterfaceDetails, 'link_mtu'>,
): number {
  return mtu === 'linked' || link_mtu === 0 ? link_mtu : DEFAULT_MTU;
}

/** @param mtu 0 restores VPP's default, which is unknown for hardware and then stays */
export async function setMtu(
  client: VppClient,
  kind: InterfaceTypeHandler,
  sw_if_index: number,
  mtu: number,
): Promise<void> {
  if (kind.mtu === 'hardware') {
    if (mtu !== 0) await client.request('hw_interface_set_mtu', { sw_if_index, mtu });
    return;
  }
  const isGiven = mtu === 0 && kind.mtu !== 'inherited';
  const layer3 = isGiven ? await restoreFrameSize(client, kind, sw_if_index) : mtu;
  // the other three MTUs, of protocols, then follow the first
  await client.request('sw_interface_set_mtu', { sw_if_index, mtu: [layer3, 0, 0, 0] });
}

/** Restores the frame size of a device if it was changed past the agent. @returns the default MTU */
async function restoreFrameSize(
  client: VppClient,
  kind: InterfaceTypeHandler,
  sw_if_index: number,
): Promise<number> {
  const all = await dumpInterfaces(client, sw_if_index);
  const details = all.find((each) => each.sw_if_index === sw_if_index);
  if (details === undefined) return 0;
  const mtu = defaultMtu(kind, details);
  if (mtu !== details.link_mtu) await client.request('hw_interface_set_mtu', { sw_if_index, mtu });
  return mtu;
}

/** The VLANs of an interface. */
export async function vlansOf(
  client: VppClient,
  parent: number,
): Promise<readonly SwInterfaceDetails[]> {
  const all = await dumpInterfaces(client, NONE);
  return all.filter((each) => each.sup_sw_if_index === parent && each.sw_if_index !== parent);
}

function dumpInterfaces(
  client: VppClient,
  sw_if_index: number,
): Promise<readonly SwInterfaceDetails[]> {
  return client.dump('sw_interface_dump', {
    sw_if_index,
    name_filter_valid: false,
    name_filter: '',
  });
}
