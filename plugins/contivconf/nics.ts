import type { VppInterfaceInfo } from '#plugins/controller/api/ports/vpp.ts';

const dpdk = 'dpdk';

/** The NICs that VPP drives by DPDK, in their order, by VPP's own names. */
export function dpdkNics(interfaces: readonly VppInterfaceInfo[]): string[] {
  return interfaces
    .filter(({ deviceType }) => deviceType.toLowerCase() === dpdk)
    .sort((a, b) => a.swIfIndex - b.swIfIndex)
    .map(({ internalName }) => internalName);
}
