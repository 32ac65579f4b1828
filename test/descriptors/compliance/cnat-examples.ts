import { cnatSourceNatModel } from '#models/vpp/cnat-source-nat.ts';
import { cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { changing, loop } from './example-values.ts';
import type { Example } from './suite.ts';

const web = { external_ip: 'fd16::1', external_port: 30_080 } as const;

const backend = (last: number) => ({ ip_address: `fd01::1:0:0:0:${last}`, port: 8080 });

const examples: readonly Example[] = [
  {
    name: 'translation that replaces the client',
    ...changing(
      cnatTranslationModel,
      { ...web, source_ip: 'fd01::1:ffff:ffff:ffff:fffe', backends: [backend(2), backend(3)] },
      { backends: [backend(3), backend(4), backend(5)] },
      true,
    ),
  },
  {
    name: 'translation of UDP that keeps the client',
    ...changing(
      cnatTranslationModel,
      { ...web, protocol: 'UDP', backends: [backend(2)] },
      { source_ip: 'fd01::1:ffff:ffff:ffff:fffe' },
      true,
    ),
  },
  {
    name: 'translation with affinity',
    ...changing(
      cnatTranslationModel,
      { ...web, external_port: 80, client_affinity: true, backends: [backend(2), backend(3)] },
      { client_affinity: false },
      false,
    ),
  },
  {
    name: 'translation that only leads packets of sessions to cnat',
    ...changing(
      cnatTranslationModel,
      { ...web, external_port: 0, backends: [{ ip_address: 'fd01::1:0:0:0:2', port: 0 }] },
      { backends: [{ ip_address: 'fd01::1:0:0:0:3', port: 0 }] },
      true,
    ),
  },
  {
    name: 'source NAT of IPv6',
    setup: [loop('edge', { enabled: true, ip_addresses: ['fd17::1/64'] })],
    ...changing(
      cnatSourceNatModel,
      { interface: 'edge', address: 'fd16::1' },
      { address: 'fd16::2' },
      true,
    ),
  },
];

/** Example values of cnat, which the agent uses from v26.06 on. */
export const cnatExamples: readonly Example[] = examples.map((one) => ({
  ...one,
  requires: 'cnat_set_snat_addresses_v2',
}));
