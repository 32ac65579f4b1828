import type { VppInterface } from '#models/vpp/interface.ts';
import { afPacket } from './af-packet.ts';
import type { InterfaceKind } from './kind.ts';
import { loopback } from './loopback.ts';
import { memif } from './memif.ts';
import { nic } from './nic.ts';
import { sub } from './sub.ts';
import { tap } from './tap.ts';
import { vxlan } from './vxlan.ts';

/** One file per type of interface. */
export const interfaceKinds: readonly InterfaceKind[] = [
  loopback,
  tap,
  afPacket,
  vxlan,
  memif,
  sub,
  nic,
];

const byType = new Map(interfaceKinds.map((kind) => [kind.type, kind]));

export function kindOf(type: VppInterface['type']): InterfaceKind | undefined {
  return byType.get(type);
}
