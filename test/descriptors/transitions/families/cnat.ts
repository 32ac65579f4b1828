import { cnatSourceNatModel } from '#models/vpp/cnat-source-nat.ts';
import { cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const backend = (last: number) => ({ ip_address: `fd70::${last}`, port: 8080 });
const SOURCE = 'fd70::fffe';

export const cnatFamilies: readonly Family[] = [
  family('translation of cnat', {
    model: cnatTranslationModel,
    base: { external_ip: 'fd97::1', external_port: 80, backends: [backend(2), backend(3)] },
    fields: {
      source_ip: [SOURCE],
      client_affinity: [true],
      backends: [
        [backend(2)],
        [backend(3), backend(4), backend(5)],
        [{ ...backend(2), port: 8081 }, backend(2)],
      ],
    },
    others: {
      'affinity of clients that are replaced': {
        external_ip: 'fd97::1',
        external_port: 80,
        source_ip: SOURCE,
        client_affinity: true,
        backends: [backend(4)],
      },
    },
  }),
  family('source NAT of cnat', {
    model: cnatSourceNatModel,
    setup: [
      loop('edge-a', { enabled: true, ip_addresses: ['fd96::1/64'] }),
      loop('edge-b', { enabled: true, ip_addresses: ['fd96:1::1/64'] }),
    ],
    base: { interface: 'edge-a', address: 'fd95::1' },
    fields: { interface: ['edge-b'], address: ['fd95::2'] },
  }),
];
