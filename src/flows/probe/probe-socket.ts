import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** Some seconds of reports of a busy node; the kernel may limit it (`net.core.rmem_max`). */
const RECEIVE_BYTES = 4 << 20;

/** Opens a socket for what one source sends to an address of this host. */
export type OpenProbeSocket = (
  at: { readonly address: string; readonly port: number },
  receive: (bytes: Buffer, from: string) => void,
) => Promise<ProbeSocket>;

export interface ProbeSocket {
  close(): void;
}

/** @throws Error the address is not there yet, or another process has the port */
export const openProbeSocket: OpenProbeSocket = async ({ address, port }, receive) => {
  const socket: Socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BYTES });
  socket.unref();
  try {
    socket.bind({ address, port, exclusive: true });
    await once(socket, 'listening');
  } catch (thrown) {
    socket.close();
    throw thrown;
  }
  // what fails later is the loss of a message, which the numbers of the messages show
  socket.on('error', () => undefined);
  socket.on('message', (bytes, { address: from }) => receive(bytes, from));
  return socket;
};
