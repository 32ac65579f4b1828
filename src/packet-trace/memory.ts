/** Memory of the VPPs of a snapshot: what they keep of earlier packets. */
import { type AclSessions, AclSessionTable } from './acl-session.ts';
import { type CnatSessions, cnatSessions } from './cnat.ts';
import { ChangedNatSessions, type NatSessions } from './nat-session.ts';
import type { SocketConnections } from './sockets.ts';

export interface DeviceMemory {
  readonly nat: NatSessions;
  readonly acl: AclSessions;
  readonly cnat: CnatSessions;
  /** Of a device whose kernel translates services at sockets. */
  readonly sockets?: SocketConnections;
}

/** By the name of the device. */
export type TraceMemory = (device: string) => DeviceMemory;

/**
 * A memory for traces: a reply finds the sessions of the packet that it answers.
 * @param base memory before the trace; it is not changed, so that each possible way of a packet can be
 * traced from the same base
 */
export function traceMemory(base?: TraceMemory): TraceMemory {
  const devices = new Map<string, DeviceMemory>();
  return (device) => {
    const before = base?.(device);
    const known = devices.get(device) ?? {
      nat: new ChangedNatSessions(before?.nat),
      acl: new AclSessionTable(before?.acl),
      cnat: cnatSessions(before?.cnat),
      sockets: new Map(before?.sockets),
    };
    devices.set(device, known);
    return known;
  };
}
