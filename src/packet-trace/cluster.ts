/** Snapshot of a cluster of nodes. */
import { sameAddress } from './addresses.ts';
import { type NodeValues, nodeTopology } from './node.ts';
import type { Device, Snapshot } from './snapshot.ts';

export interface ClusterValues {
  readonly nodes: readonly NodeValues[];
  /** Machines on the network of the nodes, each with one interface on it. */
  readonly others?: readonly Device[];
}

/**
 * Assumes that the uplinks of all nodes are on one network per VLAN, and that this network has other
 * devices that are not in the snapshot.
 */
export function clusterSnapshot({ nodes, others = [] }: ClusterValues): Snapshot {
  const parts = nodes.map(nodeTopology);
  const devices = [...parts.flatMap((part) => part.devices), ...others];
  const uplinks = [
    ...parts.flatMap((part) => part.uplinks),
    ...others.flatMap(({ name, interfaces }) =>
      [...interfaces.keys()].map((one) => ({ port: { device: name, interface: one }, vlan: 0 })),
    ),
  ];
  const networks = [...Map.groupBy(uplinks, ({ vlan }) => vlan).values()].map((ends) => ({
    ports: ends.map(({ port }) => port),
    isOpen: true,
  }));
  return {
    devices: new Map(devices.map((device) => [device.name, device])),
    wires: [...parts.flatMap(({ wires }) => wires), ...networks],
  };
}

/** Name of the device that has an address; pods precede hosts. */
export function deviceByAddress(snapshot: Snapshot, address: string): string | undefined {
  const found = [...snapshot.devices.values()].filter(
    ({ interfaces, otherAddresses }) =>
      otherAddresses.some((own) => sameAddress(own, address)) ||
      [...interfaces.values()].some(({ addresses }) =>
        addresses.some((cidr) => sameAddress(cidr, address)),
      ),
  );
  return (found.find(({ forwards }) => !forwards) ?? found[0])?.name;
}
