import { type BridgeDomainInterface, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { VXLAN_BRIDGE_DOMAIN, vxlanTunnel } from './names.ts';

/** Packets from one tunnel are never forwarded to another tunnel. */
export const SPLIT_HORIZON_GROUP = 1;

/**
 * The tunnels in the bridge domain, in canonical form. A tunnel that stays is the same object in the next list,
 * which is therefore quickly made and compared, among thousands of tunnels.
 */
export class TunnelMembers {
  #byId: ReadonlyMap<number, BridgeDomainInterface> = new Map();

  /** @param nodeIds IDs of the nodes with a tunnel */
  of(nodeIds: readonly number[]): readonly BridgeDomainInterface[] {
    this.#byId = new Map(nodeIds.map((id) => [id, this.#byId.get(id) ?? memberOf(id)]));
    return [...this.#byId.values()];
  }
}

function memberOf(nodeId: number): BridgeDomainInterface {
  const { interfaces } = bridgeDomainModel.canonical({
    name: VXLAN_BRIDGE_DOMAIN,
    interfaces: [{ name: vxlanTunnel(nodeId), split_horizon_group: SPLIT_HORIZON_GROUP }],
  });
  return interfaces[0]!;
}
