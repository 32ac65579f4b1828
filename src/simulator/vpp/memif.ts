import { fromMac, toMac } from '#vpp/binapi/addresses.ts';
import type { MemifCreateV2 } from '#vpp/binapi/messages.gen.ts';
import type { ReceivedFields } from '#vpp/binapi/server.ts';
import type { Host } from './host.ts';
import type { Interfaces, RxQueue } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

const role = { master: 0, slave: 1 };
const mode = { ethernet: 0, ip: 1 };
const RUNTIME_DIR = '/run/vpp';
const NO_MAC = '00:00:00:00:00:00';
const POLLING = 1;
/** Tries until an unused number is found. */
const FIRST_UNUSED_ID = 1_000_000;

interface Memif {
  readonly socketId: number;
  readonly wanted: ReceivedFields<MemifCreateV2>;
  /** There are some while it is connected. */
  readonly queues: RxQueue[];
  /** They meet when both are up, and part when one of them is deleted. */
  peer: Memif | undefined;
}

function absolute(filename: string): string {
  const named = /^(abstract|@|tcp|unix|vsock):?/.test(filename);
  return named || filename.startsWith('/') ? filename : `${RUNTIME_DIR}/${filename}`;
}

/**
 * Memif interfaces and their socket files. Two of one VPP meet over one file that is known under two
 * numbers; no other peer ever comes.
 */
export function memifMessages(parts: {
  interfaces: Interfaces;
  host: Host;
  crash: (why: string) => void;
}): MessageHandlers {
  const { interfaces, host, crash } = parts;
  const files = new Map<number, string>([[0, `${RUNTIME_DIR}/memif.sock`]]);
  const memifs = new Map<number, Memif>();
  interfaces.onRemove(({ index }) => {
    const gone = memifs.get(index);
    memifs.delete(index);
    for (const [other, memif] of memifs) if (memif.peer === gone) join(other, memif, undefined);
  });
  interfaces.onAdmin(({ index }) => {
    const memif = memifs.get(index);
    const found =
      memif && !memif.peer && [...memifs].find(([other, one]) => fits(one, memif, other));
    if (!found || !interfaces.get(index)!.adminUp) return;
    join(index, memif, found[1]);
    join(found[0], found[1], memif);
  });

  const fits = (one: Memif, { wanted, socketId }: Memif, index: number): boolean =>
    interfaces.get(index)!.adminUp &&
    !one.peer &&
    one.wanted.id === wanted.id &&
    one.wanted.role !== wanted.role &&
    one.wanted.secret === wanted.secret &&
    files.get(one.socketId) === files.get(socketId);
  /** The slave says what rings there are. */
  const agreed = (one: Memif): ReceivedFields<MemifCreateV2> | undefined =>
    one.peer && (one.wanted.role === role.slave ? one : one.peer).wanted;
  const join = (index: number, memif: Memif, peer: Memif | undefined): void => {
    if (memif.peer === peer) return;
    memif.peer = peer;
    const rings = agreed(memif);
    const isSlave = memif.wanted.role === role.slave;
    const length = rings === undefined ? 0 : isSlave ? rings.rx_queues : rings.tx_queues;
    const queues = Array.from({ length }, (_, id) => ({ id, mode: POLLING }));
    memif.queues.splice(0, Number.POSITIVE_INFINITY, ...queues);
    const iface = interfaces.get(index)!;
    interfaces.setLink(iface, peer !== undefined && iface.adminUp);
  };

  const on = (socketId: number) => [...memifs.values()].filter((one) => one.socketId === socketId);
  const unusedId = (): number => {
    let id = FIRST_UNUSED_ID;
    while (files.has(id)) id++;
    return id;
  };

  const changeSocket = (isAdd: boolean, id: number, filename: string): number => {
    if (id === NONE) return retval.INVALID_ARGUMENT;
    const known = files.get(id);
    if (!isAdd) {
      if (known === undefined) return retval.INVALID_ARGUMENT;
      if (on(id).length > 0) return retval.UNEXPECTED_INTF_STATE;
      files.delete(id);
      return 0;
    }
    if (filename === '') return retval.INVALID_ARGUMENT;
    if (known !== undefined) return known === absolute(filename) ? 0 : retval.ENTRY_ALREADY_EXISTS;
    files.set(id, absolute(filename));
    return 0;
  };

  const create = (wanted: ReceivedFields<MemifCreateV2>) => {
    const { socket_id } = wanted;
    const ring = wanted.ring_size;
    if ((ring & (ring - 1)) !== 0) return retval.INVALID_ARGUMENT;
    if (!files.has(socket_id)) return retval.INVALID_ARGUMENT;
    const others = on(socket_id);
    const isMaster = (one: { readonly role: number }) => one.role === role.master;
    const mixed = others.some((one) => isMaster(one.wanted) !== isMaster(wanted));
    if (mixed || others.some((one) => one.wanted.id === wanted.id))
      return retval.SUBIF_ALREADY_EXISTS;
    if (wanted.mode > mode.ip) crash('a memif of a mode that is not supported');
    const isIp = wanted.mode === mode.ip;
    const given = fromMac(wanted.hw_addr);
    const memif: Memif = { socketId: socket_id, wanted, queues: [], peer: undefined };
    const iface = interfaces.add({
      kind: 'memif',
      name: `memif${socket_id}/${wanted.id}`,
      deviceType: 'memif',
      mac: isIp ? NO_MAC : given === NO_MAC ? host.randomMac() : given,
      ...(isIp && { linkMtu: 0 }),
      queues: memif.queues,
      defaultRxMode: POLLING,
      driver: {
        link: (adminUp) => adminUp && memif.peer !== undefined,
        setMtu: () => undefined,
        ...(!isIp && { setMac: () => undefined }),
      },
    });
    memifs.set(iface.index, memif);
    return { sw_if_index: iface.index };
  };

  return {
    requests: {
      memif_socket_filename_add_del_v2: ({ is_add, socket_id, socket_filename }) => {
        if (socket_id === 0) return { retval: retval.INVALID_ARGUMENT, socket_id };
        const id = is_add && socket_id === NONE ? unusedId() : socket_id;
        return { retval: changeSocket(is_add, id, socket_filename), socket_id: id };
      },
      memif_create_v2: create,
      memif_delete: ({ sw_if_index }) => {
        const named = interfaces.get(sw_if_index);
        // VPP takes a VLAN for what it is on
        const iface = named?.sup ?? named;
        if (iface?.kind !== 'memif') return retval.INVALID_SW_IF_INDEX;
        interfaces.remove(iface);
        return 0;
      },
    },
    dumps: {
      memif_socket_filename_dump: () =>
        [...files].map(([socket_id, socket_filename]) => ({ socket_id, socket_filename })),
      memif_dump: () =>
        [...memifs].map(([sw_if_index, memif]) => {
          const { socketId, wanted } = memif;
          const { mac, adminUp, linkUp, name } = interfaces.get(sw_if_index)!;
          const rings = agreed(memif);
          return {
            sw_if_index,
            hw_addr: toMac(mac),
            id: wanted.id,
            role: wanted.role,
            mode: wanted.mode,
            zero_copy: wanted.role === role.slave && !wanted.no_zero_copy,
            socket_id: socketId,
            ring_size: rings ? rings.ring_size || 1024 : 1,
            buffer_size: rings ? rings.buffer_size || 2048 : 0,
            flags: (adminUp ? 1 : 0) | (linkUp ? 2 : 0),
            if_name: name,
          };
        }),
    },
    snapshot: () => ({
      memifs: [...memifs]
        .map(([index, { socketId, wanted }]) => {
          const words = [interfaces.nameOf(index), files.get(socketId), wanted.id];
          return [...words, wanted.role === role.master ? 'master' : 'slave', wanted.mode].join(
            ' ',
          );
        })
        .sort(),
      memifSockets: [...files.values()].sort(),
    }),
  };
}
