import type { VppInterfaceInfo } from '#plugins/controller/api/ports/vpp.ts';

const DPDK = 'dpdk';

/** Names in VPP of the NICs that VPP drives by DPDK, in their order. */
export function dpdkNics(interfaces: readonly VppInterfaceInfo[]): string[] {
  return interfaces
    .filter(({ deviceType }) => deviceType.toLowerCase() === DPDK)
    .sort((a, b) => a.swIfIndex - b.swIfIndex)
    .map(({ internalName }) => internalName);
}
