import type { VppRoute } from './route.ts';

/** Before v26.02 VPP crashes on a route of the type UNREACHABLE in any other table. */
const TABLE_THAT_REFUSES = 0;

type Fields = Pick<VppRoute, 'type' | 'vrf_id' | 'via_vrf_id' | 'dst_network' | 'next_hop_addr'>;

/**
 * Routes by which the sender of a packet to a network gets an error, unless a more specific route of the table leads on:
 * one refuses, and the other tables look there.
 * @param destination CIDR
 * @param tables each once
 */
export function refusingRoutes(destination: string, tables: readonly number[]): Fields[] {
  const next_hop_addr = destination.includes(':') ? '::' : '0.0.0.0';
  const common = { dst_network: destination, next_hop_addr };
  const others = tables.filter((one) => one !== TABLE_THAT_REFUSES);
  return [
    { ...common, type: 'UNREACHABLE', vrf_id: TABLE_THAT_REFUSES, via_vrf_id: 0 },
    ...others.map(
      (vrf_id): Fields => ({
        ...common,
        type: 'INTER_VRF',
        vrf_id,
        via_vrf_id: TABLE_THAT_REFUSES,
      }),
    ),
  ];
}
