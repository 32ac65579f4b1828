import { parseIp } from '#models/ip.ts';
import type { NatFlow, NatSession } from '#packet-trace/nat-session.ts';
import { textOfBytes } from '#vpp/binapi/addresses.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { Nat44DelSession, Nat44UserSessionV3Details } from '#vpp/binapi/messages.gen.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { protocolNumbers, protocolOf } from './nat44-protocols.ts';
import type { NatSessionTable } from './nat44-sessions.ts';
import { retval } from './retval.ts';

/** Of a packet: the simulator knows no sizes. */
const BYTES = 100;

interface NatState {
  readonly isEnabled: boolean;
  readonly sessions: NatSessionTable;
}

interface User {
  readonly vrf_id: number;
  readonly ip_address: Uint8Array;
  nsessions: number;
  nstaticsessions: number;
}

export function sessionDumps({ sessions }: NatState): NonNullable<MessageHandlers['dumps']> {
  return {
    nat44_user_dump: () => {
      const users = new Map<string, User>();
      for (const { session } of sessions.all()) {
        const { address, table } = session.inside;
        const key = `${address} ${table}`;
        const user = users.get(key) ?? {
          vrf_id: table,
          ip_address: bytes(address),
          nsessions: 0,
          nstaticsessions: 0,
        };
        users.set(key, user);
        if (isStatic(session)) user.nstaticsessions++;
        else user.nsessions++;
      }
      return [...users.values()];
    },
    // VPP ignores the table
    nat44_user_session_v3_dump: ({ ip_address }) =>
      [...sessions.all()]
        .filter(({ session }) => session.inside.address === textOfBytes(ip_address))
        .map(details),
  };
}

export function sessionRequests(nat: NatState): NonNullable<MessageHandlers['requests']> {
  return {
    nat44_del_session: (request) => {
      if (!nat.isEnabled) return retval.UNSUPPORTED;
      const flow = flowOf(request);
      return flow && nat.sessions.removeFlow(flow) ? 0 : retval.NO_SUCH_ENTRY;
    },
  };
}

/** VPP looks for the flow from the address to the external host, or to what twice-NAT replaces it by. */
function flowOf(request: Nat44DelSession): NatFlow | undefined {
  const protocol = protocolOf(request.protocol);
  return (
    protocol && {
      protocol,
      source: textOfBytes(request.address),
      sourcePort: request.port,
      destination: textOfBytes(request.ext_host_address),
      destinationPort: request.ext_host_port,
      table: request.vrf_id,
    }
  );
}

function isStatic({ kind }: NatSession): boolean {
  return kind === 'static' || kind === 'balanced';
}

type Listed = ReturnType<NatSessionTable['all']> extends Iterable<infer T> ? T : never;

function details({ session, packets, idleSeconds, heardAt, isTimedOut }: Listed) {
  const { inside, outside, externalHost, externalHostNat } = session;
  return {
    outside_ip_address: bytes(outside.address),
    outside_port: outside.port,
    inside_ip_address: bytes(inside.address),
    inside_port: inside.port,
    protocol: protocolNumbers[session.protocol],
    flags:
      NatConfigFlags.NAT_IS_EXT_HOST_VALID |
      (isStatic(session) ? NatConfigFlags.NAT_IS_STATIC : 0) |
      (externalHostNat ? NatConfigFlags.NAT_IS_TWICE_NAT : 0),
    last_heard: BigInt(heardAt),
    time_since_last_heard: BigInt(idleSeconds),
    total_bytes: BigInt(packets * BYTES),
    total_pkts: packets,
    ext_host_address: bytes(externalHost.address),
    ext_host_port: externalHost.port,
    ext_host_nat_address: bytes(externalHostNat?.address ?? '0.0.0.0'),
    ext_host_nat_port: externalHostNat?.port ?? 0,
    is_timed_out: isTimedOut,
  } satisfies Nat44UserSessionV3Details;
}

function bytes(address: string): Uint8Array {
  return parseIp(address)!;
}
