import { parseIp } from '#models/ip.ts';
import { textOfBytes } from '#vpp/binapi/addresses.ts';
import type { MessageHandlers } from './message-handlers.ts';
import {
  mappingFlag,
  type RequestedMapping,
  type StaticMapping,
  type StaticMappings,
} from './nat44-mappings.ts';
import type { AddressPools } from './nat44-pools.ts';
import { NONE, retval } from './retval.ts';

/** With more local ends VPP loops forever: it counts with a byte. */
const MAX_LOCALS = 255;

const { identity, loadBalanced } = mappingFlag;

interface NatState {
  readonly isEnabled: boolean;
  readonly pools: AddressPools;
  readonly mappings: StaticMappings;
  readonly crash: (why: string) => void;
}

/** Requests that change NAT44 mappings. */
export function mappingRequests(nat: NatState): NonNullable<MessageHandlers['requests']> {
  const { mappings } = nat;
  const set = (requested: RequestedMapping, isAdd: boolean): number => {
    if (!nat.isEnabled) return retval.UNSUPPORTED;
    return isAdd ? mappings.add(requested) : mappings.remove(requested);
  };

  const storedFlags =
    mappingFlag.twiceNat |
    mappingFlag.selfTwiceNat |
    mappingFlag.out2inOnly |
    mappingFlag.addressOnly;
  return {
    nat44_add_del_static_mapping_v2: (request) => {
      const addressOnly = (request.flags & mappingFlag.addressOnly) !== 0;
      return set(
        {
          flags: request.flags & storedFlags,
          local: textOfBytes(request.local_ip_address),
          external: textOfBytes(request.external_ip_address),
          localPort: addressOnly ? 0 : request.local_port,
          externalPort: addressOnly ? 0 : request.external_port,
          protocol: request.protocol,
          vrf: request.vrf_id,
          swIfIndex: request.external_sw_if_index,
          tag: request.tag,
        },
        request.is_add,
      );
    },
    nat44_add_del_identity_mapping: (request) => {
      const addressOnly = (request.flags & mappingFlag.addressOnly) !== 0;
      const address = textOfBytes(request.ip_address);
      const port = addressOnly ? 0 : request.port;
      return set(
        {
          flags: mappingFlag.identity | (addressOnly ? mappingFlag.addressOnly : 0),
          // VPP ignores the address if the mapping is bound to an interface
          local: request.sw_if_index === NONE ? address : '0.0.0.0',
          external: address,
          localPort: port,
          externalPort: port,
          protocol: addressOnly ? 0 : request.protocol,
          vrf: request.vrf_id,
          swIfIndex: request.sw_if_index,
          tag: request.tag,
        },
        request.is_add,
      );
    },
    nat44_add_del_lb_static_mapping: (request) => {
      if (request.locals.length > MAX_LOCALS) {
        nat.crash('more local ends than a byte counts');
        return retval.UNSPECIFIED;
      }
      if (!nat.isEnabled) return retval.UNSUPPORTED;
      const external = textOfBytes(request.external_addr);
      if (!request.is_add)
        return mappings.removeBalanced(external, request.external_port, request.protocol);
      const { twiceNat, selfTwiceNat, out2inOnly } = mappingFlag;
      const twice =
        request.flags & twiceNat ? request.flags & twiceNat : request.flags & selfTwiceNat;
      return mappings.addBalanced(
        {
          flags: twice | (request.flags & out2inOnly),
          external,
          externalPort: request.external_port,
          protocol: request.protocol,
          tag: request.tag,
          affinity: request.affinity,
          locals: request.locals,
        },
        nat.pools.has(external),
      );
    },
    nat44_lb_static_mapping_add_del_local: (request) => {
      if (!nat.isEnabled) return retval.UNSUPPORTED;
      const external = textOfBytes(request.external_addr);
      return mappings.changeLocal(
        external,
        request.external_port,
        request.protocol,
        request.local,
        request.is_add,
      );
    },
  };
}

export function mappingDumps(mappings: StaticMappings): NonNullable<MessageHandlers['dumps']> {
  const ofKind = (kind: number): readonly StaticMapping[] =>
    mappings.all.filter(({ flags }) => (flags & (identity | loadBalanced)) === kind);
  const bytes = (address: string): Uint8Array => parseIp(address)!;
  return {
    nat44_static_mapping_dump: () => [
      ...ofKind(0).map((mapping) => ({
        flags: mapping.flags,
        local_ip_address: bytes(mapping.local),
        external_ip_address: bytes(mapping.external),
        protocol: mapping.protocol,
        local_port: mapping.localPort,
        external_port: mapping.externalPort,
        external_sw_if_index: NONE,
        vrf_id: mapping.vrf,
        tag: mapping.tag,
      })),
      ...mappings.bound
        .filter(({ flags }) => !(flags & identity))
        .map((record) => {
          const addressOnly = (record.flags & mappingFlag.addressOnly) !== 0;
          return {
            // VPP omits the other flags
            flags: record.flags & (mappingFlag.twiceNat | mappingFlag.addressOnly),
            local_ip_address: bytes(record.local),
            external_ip_address: new Uint8Array(4),
            protocol: addressOnly ? 0 : record.protocol,
            local_port: record.localPort,
            external_port: record.externalPort,
            external_sw_if_index: record.swIfIndex,
            vrf_id: record.vrf,
            tag: record.tag,
          };
        }),
    ],
    nat44_lb_static_mapping_dump: () =>
      ofKind(loadBalanced).map((mapping) => ({
        external_addr: bytes(mapping.external),
        external_port: mapping.externalPort,
        protocol: mapping.protocol,
        flags: mapping.flags & ~loadBalanced,
        // VPP does not dump it
        affinity: 0,
        tag: mapping.tag,
        locals: mapping.locals,
      })),
    nat44_identity_mapping_dump: () => [
      ...ofKind(identity).flatMap((mapping) =>
        mapping.locals.map(({ vrf_id }) => ({
          flags: mapping.flags & mappingFlag.addressOnly,
          ip_address: bytes(mapping.local),
          protocol: mapping.protocol,
          port: mapping.localPort,
          sw_if_index: NONE,
          vrf_id,
          tag: mapping.tag,
        })),
      ),
      ...mappings.bound
        .filter(({ flags }) => flags & identity)
        .map((record) => ({
          flags: record.flags & mappingFlag.addressOnly,
          ip_address: new Uint8Array(4),
          protocol: record.protocol,
          port: record.localPort,
          sw_if_index: record.swIfIndex,
          vrf_id: record.vrf,
          tag: record.tag,
        })),
    ],
  };
}

/** @param nameOf names an interface */
export function mappingSnapshot(mappings: StaticMappings, nameOf: (index: number) => string) {
  const local = ({ addr, port, probability, vrf_id }: StaticMapping['locals'][number]) =>
    `${textOfBytes(addr)}:${port} vrf ${vrf_id} share ${probability}`;
  return {
    mappings: mappings.all
      .map((mapping) => {
        const { flags, external, externalPort, protocol, tag, affinity } = mapping;
        const from = `${external}:${externalPort}/${protocol} flags ${flags}`;
        // an identity in several tables has the tag of the first one
        if (flags & identity)
          return `${from} to itself in ${mapping.locals.map(({ vrf_id }) => vrf_id).sort()}`;
        if (!(flags & loadBalanced))
          return `${from} to ${mapping.local}:${mapping.localPort} vrf ${mapping.vrf} (${tag})`;
        const ends = mapping.locals.map(local).sort().join(', ');
        return `${from} to ${ends} affinity ${affinity} (${tag})`;
      })
      .sort(),
    bound: mappings.bound
      .map(({ swIfIndex, externalPort, protocol, local: to, localPort, tag }) => {
        return `${nameOf(swIfIndex)}:${externalPort}/${protocol} to ${to}:${localPort} (${tag})`;
      })
      .sort(),
  };
}
