/** Reads what a record has to hold, and rejects NICs that cannot be taken, or not given back as they were. */
import { defineError } from '#infra/errors/errors.ts';
import type { HostLink, HostNetwork } from './host-network.ts';
import type { NicRecord } from './nic-record.ts';
import type { PciDevices } from './pci-devices.ts';

export const NicNotStealableError = defineError({
  name: 'NicNotStealableError',
  code: 'CV_STN_NOT_STEALABLE',
  rejects: 'configuration',
  remedy:
    'Correct stealInterface, or remove what the error names; the NIC must be a PCI device that only this host uses.',
});

export interface NicReaderDeps {
  readonly network: HostNetwork;
  readonly pci: PciDevices;
  readonly bootId: string;
}

/** @throws NicNotStealableError */
export function readNic(
  { network, pci, bootId }: NicReaderDeps,
  name: string,
  dhcp: boolean,
): NicRecord {
  const reject = (why: string): never => {
    throw new NicNotStealableError(why, { where: `NIC ${JSON.stringify(name)}` });
  };
  const links = network.links();
  const link = links.find((each) => each.name === name) ?? reject('the host has no such link');
  const { address, driver } =
    pci.deviceOf(name) ?? reject(`it is not a PCI device (${link.kind}): VPP cannot take it over`);
  if (driver === undefined) return reject(`its PCI device ${address} has no driver`);
  const used = useOf(link, links);
  if (used !== undefined) reject(used);
  const others = pci.linksOf(address).filter((other) => other !== name);
  if (others.length > 0) reject(`its PCI device ${address} has other links: ${others.join(', ')}`);
  const { up, mtu, mac } = link;
  return {
    version: 1,
    state: 'stolen',
    name,
    pciAddress: address,
    driver,
    dhcp,
    bootId,
    link: { up, mtu, ...(mac !== undefined && { mac }) },
    addresses: [...network.addresses(link.index)],
    routes: [...network.routes(link.index)],
  };
}

/** The use of the link that ends with it, and does not return. */
function useOf(link: HostLink, links: readonly HostLink[]): string | undefined {
  if (link.masterIndex !== undefined) {
    const master = links.find(({ index }) => index === link.masterIndex);
    return `it belongs to ${master ? `${master.name} (${master.kind})` : 'a bond or bridge'}`;
  }
  const stacked = links.filter(({ lowerIndex }) => lowerIndex === link.index);
  if (stacked.length === 0) return undefined;
  const names = stacked.map(({ name, kind }) => `${name} (${kind})`).join(', ');
  return `links are stacked on it, which would be deleted: ${names}`;
}
