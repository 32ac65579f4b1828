import type { NatSession, NatSessionPort } from '#plugins/controller/api/ports/nat-sessions.ts';
import { bytesOfAddress, textOfBytes } from './binapi/addresses.ts';
import type { VppClient } from './binapi/api.ts';
import { NatConfigFlags } from './binapi/enums.gen.ts';
import type { Nat44UserSessionV3Details } from './binapi/messages.gen.ts';
import { ignoreRetvals } from './descriptors/ignored-retvals.ts';

const NO_SUCH_ENTRY = -6;
/** NAT44 is disabled. */
const UNSUPPORTED = -126;

export function natSessionPort(client: VppClient): NatSessionPort {
  return {
    async users() {
      const found = await client.dump('nat44_user_dump', {});
      return found.map(({ ip_address, vrf_id }) => ({
        address: textOfBytes(ip_address),
        table: vrf_id,
      }));
    },
    async sessionsOf({ address, table }) {
      const found = await client.dump('nat44_user_session_v3_dump', {
        ip_address: bytesOfAddress(address),
        vrf_id: table,
      });
      return found.map((session) => toSession(session, table));
    },
    async delete({ protocol, table, inside, outside }) {
      const request = client.request('nat44_del_session', {
        address: bytesOfAddress(inside.address),
        protocol,
        port: inside.port,
        vrf_id: table,
        flags: NatConfigFlags.NAT_IS_INSIDE,
        ext_host_address: bytesOfAddress(outside.address),
        ext_host_port: outside.port,
      });
      return !(await ignoreRetvals(request, [NO_SUCH_ENTRY, UNSUPPORTED]));
    },
  };
}

function toSession(found: Nat44UserSessionV3Details, table: number): NatSession {
  const isTwice = (found.flags & NatConfigFlags.NAT_IS_TWICE_NAT) !== 0;
  const address = isTwice ? found.ext_host_nat_address : found.ext_host_address;
  return {
    protocol: found.protocol,
    table,
    inside: { address: textOfBytes(found.inside_ip_address), port: found.inside_port },
    outside: {
      address: textOfBytes(address),
      port: isTwice ? found.ext_host_nat_port : found.ext_host_port,
    },
    isExpired: found.is_timed_out,
  };
}
