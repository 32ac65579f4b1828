import { checkField } from '#kvscheduler/api/check-field.ts';
import { fnv1a32 } from '#models/fnv.ts';
import { Secret } from '#models/secret.ts';
import type { MemifLink } from '#models/vpp/interface.gen.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import { toMac } from '../../../binapi/addresses.ts';
import type { VppClient } from '../../../binapi/api.ts';
import { MemifMode, MemifRole } from '../../../binapi/enums.gen.ts';
import type { MemifCreateV2 } from '../../../binapi/messages.gen.ts';
import { ignoreRetvals } from '../../ignored-retvals.ts';
import { NONE } from '../../limits.ts';
import type { InterfaceTypeHandler } from './handler.ts';

const DEFAULT_SOCKET = 0;
const MAX_SOCKET_NAME = 107;
const MAX_SECRET = 23;
const MAX_RING = 1 << 14;
const DEFAULT_RING = 1024;
const DEFAULT_BUFFER = 2048;
type Socket = Pick<MemifLink, 'socket_filename' | 'master'>;

/** For values that `validate` rejects. */
const noSocket: Socket = { socket_filename: '', master: false };
/** Another interface uses the socket. */
const IN_USE = -74;
/** The socket does not exist. */
const INVALID_ARGUMENT = -73;

/**
 * ID under which a socket file is registered in VPP, which needs one for each role. It is computed from
 * the name, so that two interfaces that register one file at the same time send the same request.
 */
function socketIdOf({ socket_filename, master }: Socket): number {
  const id = fnv1a32(`${roleOf(master)} ${socket_filename}`);
  return id === DEFAULT_SOCKET || id === NONE ? 1 : id;
}

function roleOf(master: boolean): 'master' | 'slave' {
  return master ? 'master' : 'slave';
}

function identity({ socket_filename, master, id }: Socket & Pick<MemifLink, 'id'>): string {
  return `memif/${socket_filename}/${roleOf(master)}/${id}`;
}

function settings({ memif: link, phys_address }: VppInterface): object {
  return {
    mode: link?.mode,
    master: link?.master,
    id: link?.id,
    socket: link?.socket_filename,
    secret: link?.secret,
    ring: link?.ring_size || DEFAULT_RING,
    buffer: link?.buffer_size || DEFAULT_BUFFER,
    // a master uses the number that its peer requests
    queues: link?.master === true ? [] : [link?.rx_queues || 1, link?.tx_queues || 1],
    mac: phys_address,
  };
}

/** The ID under which another interface already uses the file in the same role. */
async function sharedId(client: VppClient, socket: Socket): Promise<number | undefined> {
  const [files, memifs] = await Promise.all([
    client.dump('memif_socket_filename_dump', {}),
    client.dump('memif_dump', {}),
  ]);
  const known = files.filter((each) => each.socket_filename === socket.socket_filename);
  const master = socket.master ? MemifRole.MEMIF_ROLE_API_MASTER : MemifRole.MEMIF_ROLE_API_SLAVE;
  const used = known.find(({ socket_id }) =>
    memifs.some((each) => each.socket_id === socket_id && each.role === master),
  );
  return used?.socket_id;
}

/** VPP accepts a repeated registration: another interface may register the file at the same time. */
async function addSocket(client: VppClient, socket: Socket): Promise<number> {
  const socket_id = socketIdOf(socket);
  const { socket_filename } = socket;
  const fields = { is_add: true, socket_id, socket_filename };
  await client.request('memif_socket_filename_add_del_v2', fields);
  return socket_id;
}

/** Succeeds with the last interface that uses it. A file that others registered has another ID. */
async function removeSocket(client: VppClient, socket: Socket): Promise<void> {
  const { socket_filename } = socket;
  const fields = { is_add: false, socket_id: socketIdOf(socket), socket_filename };
  const request = client.request('memif_socket_filename_add_del_v2', fields);
  await ignoreRetvals(request, [IN_USE, INVALID_ARGUMENT]);
}

/**
 * Shared memory with a peer that connects over a socket file. VPP returns the rings and buffers that
 * were negotiated with the peer, and neither queues nor secret: these are assumed to be as desired.
 */
export const memif: InterfaceTypeHandler = {
  type: 'MEMIF',
  mac: 'create',
  mtu: 'software',
  startsUp: false,
  downOnDelete: false,
  hasDynamicQueues: true,
  hasUniqueIdentity: true,

  validate(key, value) {
    const { memif: link, phys_address } = value;
    checkField(key, link !== undefined, 'memif', 'a memif needs link settings');
    if (link !== undefined) validateLink(key, link);
    const ip = link?.mode === 'IP';
    checkField(key, !ip || phys_address === '', 'phys_address', 'cannot be combined with mode IP');
  },

  dependencies: () => [],
  settings,
  identity: ({ memif: link }) => link && identity(link),

  async create(client, value) {
    const socket = value.memif ?? noSocket;
    const shared = await sharedId(client, socket);
    const socket_id = shared ?? (await addSocket(client, socket));
    try {
      const { sw_if_index } = await client.request('memif_create_v2', request(value, socket_id));
      return { swIfIndex: sw_if_index };
    } catch (failure) {
      // report the first failure; the next attempt uses a socket that stays
      if (shared === undefined) await removeSocket(client, socket).catch(() => undefined);
      throw failure;
    }
  },

  async delete(client, { memif: link }, { swIfIndex }) {
    await client.request('memif_delete', { sw_if_index: swIfIndex });
    await removeSocket(client, link ?? noSocket);
  },

  async dump(client) {
    if (!client.has('memif_dump')) return [];
    const [found, sockets] = await Promise.all([
      client.dump('memif_dump', {}),
      client.dump('memif_socket_filename_dump', {}),
    ]);
    const files = new Map(sockets.map((each) => [each.socket_id, each.socket_filename]));
    return found.map((each) => {
      const socket_filename = files.get(each.socket_id) ?? '';
      const master = each.role === MemifRole.MEMIF_ROLE_API_MASTER;
      return {
        swIfIndex: each.sw_if_index,
        identity: identity({ socket_filename, master, id: each.id }),
        fields: {
          memif: {
            mode: each.mode === MemifMode.MEMIF_MODE_API_IP ? 'IP' : 'ETHERNET',
            master,
            id: each.id,
            socket_filename,
            secret: Secret.none,
            ring_size: 0,
            buffer_size: 0,
            rx_queues: 0,
            tx_queues: 0,
          },
        },
      };
    });
  },

  adopt({ fields }, desired) {
    const found = fields.memif;
    if (found === undefined || desired.memif === undefined) return fields;
    const { mode, master, id, socket_filename } = found;
    return { memif: { ...desired.memif, mode, master, id, socket_filename } };
  },
};

function request({ memif: link, phys_address }: VppInterface, socket_id: number): MemifCreateV2 {
  const { MEMIF_ROLE_API_MASTER: master, MEMIF_ROLE_API_SLAVE: slave } = MemifRole;
  const { MEMIF_MODE_API_IP: ip, MEMIF_MODE_API_ETHERNET: ethernet } = MemifMode;
  return {
    role: link?.master === true ? master : slave,
    mode: link?.mode === 'IP' ? ip : ethernet,
    rx_queues: link?.rx_queues || 1,
    tx_queues: link?.tx_queues || 1,
    id: link?.id ?? 0,
    socket_id,
    ring_size: link?.ring_size || DEFAULT_RING,
    buffer_size: link?.buffer_size || DEFAULT_BUFFER,
    no_zero_copy: false,
    use_dma: false,
    hw_addr: phys_address === '' ? new Uint8Array(6) : toMac(phys_address),
    secret: link?.secret.reveal() ?? '',
  };
}

function validateLink(key: string, link: MemifLink): void {
  // VPP crashes when it creates such an interface
  checkField(key, link.mode !== 'PUNT_INJECT', 'memif.mode', 'VPP does not support PUNT_INJECT');
  const { socket_filename } = link;
  const absolute = socket_filename.startsWith('/') || socket_filename.startsWith('abstract:');
  checkField(key, absolute, 'memif.socket_filename', 'must be an absolute path or abstract:…');
  const fits = Buffer.byteLength(socket_filename) <= MAX_SOCKET_NAME;
  checkField(key, fits, 'memif.socket_filename', `longer than ${MAX_SOCKET_NAME} bytes`);
  const secret = Buffer.byteLength(link.secret.reveal()) <= MAX_SECRET;
  checkField(key, secret, 'memif.secret', `longer than ${MAX_SECRET} bytes`);
  const { isMask } = link.secret;
  checkField(key, !isMask, 'memif.secret', 'is the mask of a document, not the secret itself');
  const ring = link.ring_size;
  const power = ring <= MAX_RING && (ring & (ring - 1)) === 0;
  checkField(key, power, 'memif.ring_size', `must be a power of 2 up to ${MAX_RING}`);
  checkField(key, link.buffer_size <= 0xffff, 'memif.buffer_size', 'above 65535');
  for (const field of ['rx_queues', 'tx_queues'] as const) {
    checkField(key, link[field] <= 255, `memif.${field}`, 'above 255');
  }
}
