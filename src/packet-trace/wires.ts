/** The receivers of what a device sends on a wire. */

import { bridgeOf } from './bridge.ts';
import { findAddress } from './fib.ts';
import type { Device, Interface, Snapshot, Wire } from './snapshot.ts';
import { tableOf } from './table-of.ts';

export interface Receiver {
  readonly device: Device;
  readonly port: Interface;
}

export function wiresOf(
  { wires }: Snapshot,
  device: Device,
  { name, isLoopback }: Interface,
): readonly Wire[] {
  if (isLoopback) return [];
  return wires.filter(({ ports }) =>
    ports.some((port) => port.device === device.name && port.interface === name),
  );
}

/** The other interfaces on the wires that are up. */
export function receiversOn(
  wires: readonly Wire[],
  { devices }: Snapshot,
  device: Device,
  { name }: Interface,
): Receiver[] {
  return wires
    .flatMap(({ ports }) => ports)
    .filter((port) => port.device !== device.name || port.interface !== name)
    .flatMap((port) => {
      const other = devices.get(port.device);
      const found = other?.interfaces.get(port.interface);
      return other && found?.up ? [{ device: other, port: found }] : [];
    });
}

/**
 * The receiver of a frame: the interface with the MAC, else a bridge member, else an interface whose
 * MAC is unknown.
 * @param holder the receiver that has the address of the next hop
 */
export function receiverOf(
  heard: readonly Receiver[],
  mac: string,
  holder: Receiver | undefined,
): Receiver | undefined {
  const exact = heard.find(({ port }) => port.mac === mac);
  const bridged = heard.find(({ device, port }) => bridgeOf(device, port.name) !== undefined);
  const likely = holder?.port.mac === '' ? holder : heard.find(({ port }) => port.mac === '');
  return exact ?? bridged ?? likely;
}

/** Linux answers ARP for all its addresses on any interface; VPP for all addresses of the table. */
export function hasAddress(device: Device, port: Interface, address: string): boolean {
  return findAddress(device, tableOf(port, address), address) !== undefined;
}
