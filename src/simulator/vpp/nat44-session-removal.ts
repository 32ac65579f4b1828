import type { NatSession } from '#packet-trace/nat-session.ts';
import { textOfBytes } from '#vpp/binapi/addresses.ts';
import { type LocalEnd, mappingFlag, type SessionRemoval } from './nat44-mappings.ts';
import { protocolOf } from './nat44-protocols.ts';
import type { NatSessionTable } from './nat44-sessions.ts';

/** Which sessions VPP deletes with mappings and their local ends. */
export function sessionRemoval(sessions: NatSessionTable): SessionRemoval {
  // of all load-balanced mappings, whatever their external address, protocol and table
  const ofLocal = ({ addr, port }: LocalEnd): void => {
    const address = textOfBytes(addr);
    sessions.removeAll(
      ({ kind, inside }) =>
        kind === 'balanced' && inside.address === address && inside.port === port,
    );
  };
  return {
    ofLocal,
    ofBalanced: (mapping) => {
      mapping.locals.forEach(ofLocal);
      const { external: address, externalPort: port } = mapping;
      const protocol = protocolOf(mapping.protocol);
      if (protocol) sessions.removeAffinities({ address, port, protocol });
    },
    ofMapping: ({ flags, local, localPort, external, externalPort, protocol, vrf }) => {
      const isOfAddress = ({ kind, inside }: NatSession): boolean =>
        kind === 'static' && inside.address === local && inside.table === vrf;
      if (flags & mappingFlag.addressOnly) {
        sessions.removeAll(isOfAddress);
        return;
      }
      // VPP stops at the first one; the others stay
      for (const { session } of sessions.all()) {
        const { inside, outside } = session;
        const isOfPort =
          inside.port === localPort &&
          outside.address === external &&
          outside.port === externalPort;
        if (!isOfPort || !isOfAddress(session)) continue;
        if (session.protocol !== protocolOf(protocol)) continue;
        sessions.remove(session);
        return;
      }
    },
  };
}
