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
/** First candidate for an unused socket ID. */
const FIRST_UNUSED_ID = 1_000_000;

interface Memif {
  readonly socketId: number;
  readonly requested: ReceivedFields<MemifCreateV2>;
  /** Non-empty while it is connected. */
  readonly queues: RxQueue[];
  /** Two memifs connect when both are up, and disconnect when one of them is deleted. */
  peer: Memif | undefined;
}

function absolute(filename: string): string {
  const named = /^(abstract|@|tcp|unix|vsock):?/.test(filename);
  return named || filename.startsWith('/') ? filename : `${RUNTIME_DIR}/${filename}`;
}

/**
 * Memif interfaces and their socket files. Two memifs of one VPP connect over a file that has two
 * socket IDs; no other peers are simulated.
 */
export function memifMessages(deps: {
  interfaces: Interfaces;
  host: Host;
  crash: (why: string) => void;
}): MessageHandlers {
  const { interfaces, host, crash } = deps;
  const files = new Map<number, string>([[0, `${RUNTIME_DIR}/memif.sock`]]);
  const memifs = new Map<number, Memif>();
  interfaces.onRemove(({ index }) => {
    const removed = memifs.get(index);
    memifs.delete(index);
    for (const [other, memif] of memifs) if (memif.peer === removed) join(other, memif, undefined);
  });
  interfaces.onAdmin(({ index }) => {
    const memif = memifs.get(index);
    const found =
      memif && !memif.peer && [...memifs].find(([other, one]) => fits(one, memif, other));
    if (!found || !interfaces.get(index)!.adminUp) return;
    join(index, memif, found[1]);
    join(found[0], found[1], memif);
  });

  const fits = (one: Memif, { requested, socketId }: Memif, index: number): boolean =>
    interfaces.get(index)!.adminUp &&
    !one.peer &&
    one.requested.id === requested.id &&
    one.requested.role !== requested.role &&
    one.requested.secret === requested.secret &&
    files.get(one.socketId) === files.get(socketId);
  /** The slave determines the rings. */
  const agreed = (one: Memif): ReceivedFields<MemifCreateV2> | undefined =>
    one.peer && (one.requested.role === role.slave ? one : one.peer).requested;
  const join = (index: number, memif: Memif, peer: Memif | undefined): void => {
    if (memif.peer === peer) return;
    memif.peer = peer;
    const rings = agreed(memif);
    const isSlave = memif.requested.role === role.slave;
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

  const create = (requested: ReceivedFields<MemifCreateV2>) => {
    const { socket_id } = requested;
    const ring = requested.ring_size;
    if ((ring & (ring - 1)) !== 0) return retval.INVALID_ARGUMENT;
    if (!files.has(socket_id)) return retval.INVALID_ARGUMENT;
    const others = on(socket_id);
    const isMaster = (one: { readonly role: number }) => one.role === role.master;
    const mixed = others.some((one) => isMaster(one.requested) !== isMaster(requested));
    if (mixed || others.some((one) => one.requested.id === requested.id))
      return retval.SUBIF_ALREADY_EXISTS;
    if (requested.mode > mode.ip) crash('a memif of a mode that is not supported');
    const isIp = requested.mode === mode.ip;
    const given = fromMac(requested.hw_addr);
    const memif: Memif = { socketId: socket_id, requested, queues: [], peer: undefined };
    const iface = interfaces.add({
      kind: 'memif',
      name: `memif${socket_id}/${requested.id}`,
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
        // VPP resolves a sub-interface to its parent
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
          const { socketId, requested } = memif;
          const { mac, adminUp, linkUp, name } = interfaces.get(sw_if_index)!;
          const rings = agreed(memif);
          return {
            sw_if_index,
            hw_addr: toMac(mac),
            id: requested.id,
            role: requested.role,
            mode: requested.mode,
            zero_copy: requested.role === role.slave && !requested.no_zero_copy,
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
        .map(([index, { socketId, requested }]) => {
          const words = [interfaces.nameOf(index), files.get(socketId), requested.id];
          return [
            ...words,
            requested.role === role.master ? 'master' : 'slave',
            requested.mode,
          ].join(' ');
        })
        .sort(),
      memifSockets: [...files.values()].sort(),
    }),
  };
}
