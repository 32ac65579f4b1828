/** Connections of TCP, of the sockets that the kernel lists. */
import { formatIp, parseIp } from '#models/ip.ts';
import type { TcpConnection } from '../api.ts';
import type { FoundTcpSocket, SocketEnd } from './sockets.ts';

/**
 * A connection at a port at which a process listens was opened by the other end: the kernel lets no process connect
 * from such a port, except where it asks for that.
 */
export function connectionsOf(sockets: readonly FoundTcpSocket[]): readonly TcpConnection[] {
  const listening = new Set<number>();
  for (const { local, remote } of sockets) if (!remote) listening.add(local.port);
  return sockets.flatMap(({ local, remote }) =>
    remote === undefined
      ? []
      : [
          {
            local: withoutMapping(local),
            remote: withoutMapping(remote),
            openedBy: listening.has(local.port) ? 'remote' : 'local',
          } as const,
        ],
  );
}

/** A socket of IPv6 may have a connection over IPv4: parsing undoes its form. */
function withoutMapping({ address, port }: SocketEnd): SocketEnd {
  const bytes = parseIp(address);
  return { address: bytes ? formatIp(bytes) : address, port };
}
