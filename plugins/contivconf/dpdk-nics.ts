import type { VppInterfaceInfo } from '#plugins/controller/api/ports/vpp.ts';

const DPDK = 'dpdk';

/** The NICs that VPP drives by DPDK, in their order, by VPP's own names. */
export function dpdkNics(interfaces: readonly VppInterfaceInfo[]): string[] {
  return interfaces
    .filter(({ deviceType }) => deviceType.toLowerCase() === DPDK)
    .sort((a, b) => a.swIfIndex - b.swIfIndex)
    .map(({ internalName }) => internalName);
}
