import type { VppInterface } from '#models/vpp/interface.ts';
import { afPacket } from './af-packet.ts';
import { dpdk } from './dpdk.ts';
import type { InterfaceTypeHandler } from './handler.ts';
import { loopback } from './loopback.ts';
import { memif } from './memif.ts';
import { sub } from './sub-interface.ts';
import { tap } from './tap.ts';
import { vxlan } from './vxlan.ts';
import { wireguard } from './wireguard.ts';

/** Every interface type is registered here. */
export const interfaceTypeHandlers: readonly InterfaceTypeHandler[] = [
  loopback,
  tap,
  afPacket,
  vxlan,
  wireguard,
  memif,
  sub,
  dpdk,
];

const byType = new Map(interfaceTypeHandlers.map((kind) => [kind.type, kind]));

export function handlerOf(type: VppInterface['type']): InterfaceTypeHandler | undefined {
  return byType.get(type);
}
