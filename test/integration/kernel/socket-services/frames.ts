/** Sends a frame by a link of its network namespace as often as is asked. */
import koffi from 'koffi';

export interface Frames {
  /** Index. */
  readonly link: number;
  /** Hexadecimal. */
  readonly digits: string;
  readonly count: number;
}

const AF_PACKET = 17;
const SOCK_RAW = 3;
const PLACE_LENGTH = 20;

const libc = koffi.load(null);
const openSocket = libc.func('int socket(int domain, int type, int protocol)');
const send = libc.func(
  'intptr_t sendto(int socket, const uint8_t *bytes, size_t length, int flags, const uint8_t *place, uint32_t placeLength)',
);

const { link, digits, count } = JSON.parse(process.argv[2] ?? '') as Frames;
const frame = Buffer.from(digits, 'hex');
const place = Buffer.alloc(PLACE_LENGTH);
place.writeUInt16LE(AF_PACKET);
place.writeInt32LE(link, 4);
const socket = openSocket(AF_PACKET, SOCK_RAW, 0);
for (let sent = 0; sent < count; sent++)
  if (send(socket, frame, frame.length, 0, place, place.length) < 0)
    throw new Error(`cannot send: errno ${koffi.errno()}`);
