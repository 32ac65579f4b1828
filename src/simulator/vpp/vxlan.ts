import { VXLAN_PORT } from '#models/vpp/interface.ts';
import { fromAddress, toAddress } from '#vpp/binapi/addresses.ts';
import type { VxlanTunnelV2Details } from '#vpp/binapi/messages.gen.ts';
import { type Family, type Fib, pathOf, pathType, source } from './fib.ts';
import type { Host } from './host.ts';
import { IndexPool, type Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

/** Next node l2-input, which is VPP's default for ~0; LAST_DECAP is the last valid node. */
const DECAP_TO_L2 = 1;
const LAST_DECAP = 4;

interface Tunnel {
  readonly details: VxlanTunnelV2Details;
  readonly poolIndex: number;
  readonly key: string;
  /** Table and address of the remote end. */
  readonly remote: string;
}

function isMulticast(address: Uint8Array, family: Family): boolean {
  return family === 4 ? (address[0]! & 0xf0) === 0xe0 : address[0] === 0xff;
}

/** VXLAN tunnels. */
export function vxlanMessages(deps: {
  interfaces: Interfaces;
  fib: Fib;
  host: Host;
}): MessageHandlers {
  const { interfaces, fib, host } = deps;
  const tunnels = new Map<number, Tunnel>();
  const byKey = new Map<string, number>();
  const instances = new Set<number>();
  /** Number of tunnels to the same remote end. */
  const toRemote = new Map<string, number>();
  const pool = new IndexPool();

  const remoteOf = ({ dst_address }: VxlanTunnelV2Details) =>
    dst_address.af === 1
      ? { address: dst_address.un, length: 128 }
      : { address: dst_address.un.subarray(0, 4), length: 32 };

  /** VPP tracks the route to the remote end with its own FIB entry. */
  const follow = ({ details, remote }: Tunnel, isAdd: boolean): void => {
    const family: Family = details.dst_address.af === 1 ? 6 : 4;
    const table = fib.find(family, details.encap_vrf_id)!;
    if (isAdd) fib.lock(table, 'tunnels');
    const count = (toRemote.get(remote) ?? 0) + (isAdd ? 1 : -1);
    if (count > 0) toRemote.set(remote, count);
    else toRemote.delete(remote);
    const paths = isAdd ? [pathOf(family, { type: pathType.drop })] : [];
    if (isAdd || count === 0) fib.set(table, remoteOf(details), source.recursive, paths);
    if (!isAdd) fib.unlock(table, 'tunnels');
  };

  interfaces.onRemove(({ index }) => {
    const tunnel = tunnels.get(index);
    if (!tunnel) return;
    tunnels.delete(index);
    byKey.delete(tunnel.key);
    instances.delete(tunnel.details.instance);
    pool.release(tunnel.poolIndex);
    follow(tunnel, false);
  });

  return {
    requests: {
      vxlan_add_del_tunnel_v3: (requested) => {
        const { src_address, dst_address, vni, encap_vrf_id } = requested;
        const family: Family = src_address.af === 1 ? 6 : 4;
        if (!fib.find(family, encap_vrf_id)) return retval.NO_SUCH_FIB;
        if (src_address.af !== dst_address.af) return retval.INVALID_VALUE;
        const [from, to] = [fromAddress(src_address), fromAddress(dst_address)];
        if (from === to) return retval.SAME_SRC_DST;
        const multicast = isMulticast(dst_address.un, family);
        if (multicast && !interfaces.get(requested.mcast_sw_if_index))
          return retval.INVALID_SW_IF_INDEX;
        const [src_port, dst_port] = [
          requested.src_port || VXLAN_PORT,
          requested.dst_port || VXLAN_PORT,
        ];
        // VPP ignores the remote port, and the local address for IPv6
        const near = family === 4 ? `${from}:${src_port}` : `port ${src_port}`;
        const key = `${encap_vrf_id} ${near} ${to} ${vni & 0xff_ffff}`;
        const known = byKey.get(key);
        if (!requested.is_add) {
          if (known === undefined) return retval.NO_SUCH_ENTRY;
          interfaces.remove(interfaces.get(known)!);
          return { sw_if_index: known };
        }
        if (known !== undefined) return retval.TUNNEL_EXIST;
        if (requested.decap_next_index !== NONE && requested.decap_next_index > LAST_DECAP)
          return retval.INVALID_DECAP_NEXT;
        const poolIndex = pool.allocate();
        const instance = requested.instance === NONE ? poolIndex : requested.instance;
        if (instances.has(instance)) {
          pool.release(poolIndex);
          return retval.INSTANCE_IN_USE;
        }
        const iface = interfaces.add({
          kind: 'vxlan',
          name: `vxlan_tunnel${instance}`,
          deviceType: 'VXLAN',
          mac: host.randomMac(),
          adminUp: true,
          linkUp: true,
          driver: { link: (up) => up, setMtu: () => undefined, setMac: () => undefined },
        });
        const details: VxlanTunnelV2Details = {
          sw_if_index: iface.index,
          instance,
          src_address: toAddress(from),
          dst_address: toAddress(to),
          src_port,
          dst_port,
          mcast_sw_if_index: multicast ? requested.mcast_sw_if_index : NONE,
          encap_vrf_id,
          decap_next_index:
            requested.decap_next_index === NONE ? DECAP_TO_L2 : requested.decap_next_index,
          vni,
        };
        const tunnel = { details, poolIndex, key, remote: `${encap_vrf_id} ${to}` };
        tunnels.set(iface.index, tunnel);
        byKey.set(key, iface.index);
        instances.add(instance);
        follow(tunnel, true);
        return { sw_if_index: iface.index };
      },
    },
    dumps: {
      vxlan_tunnel_v2_dump: ({ sw_if_index }) =>
        [...tunnels.values()]
          .map(({ details }) => details)
          .filter((details) => sw_if_index === NONE || details.sw_if_index === sw_if_index),
    },
    snapshot: () => ({
      vxlans: [...tunnels]
        .map(([index, { key }]) => `${interfaces.nameOf(index)}: vrf ${key}`)
        .sort(),
    }),
  };
}
