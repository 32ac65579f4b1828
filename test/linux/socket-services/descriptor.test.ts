/** Values of services at sockets that clients of gRPC may send, and names of Kubernetes at their limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { socketExemptionDescriptor } from '#linux/descriptors/socket-exemption.ts';
import { socketNodeAddressDescriptor } from '#linux/descriptors/socket-node-address.ts';
import { socketServiceDescriptor } from '#linux/descriptors/socket-service.ts';
import { socketExemptionModel } from '#models/linux/socket-exemption.ts';
import { socketNodeAddressModel } from '#models/linux/socket-node-address.ts';
import { type SocketService, socketServiceModel } from '#models/linux/socket-service.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';

const { validate } = socketServiceDescriptor(
  new SimSocketTable(seededRandom(1), new ManualClock()),
);
const frontend = { address: '10.96.0.10', port: 80 };
const backend = { address: '10.1.1.2', port: 8080, weight: 1 };
const web = {
  name: 'default/web',
  mappings: [{ frontends: [frontend], backends: [backend], affinity_timeout: 0 }],
};

function check(input: Parameters<typeof socketServiceModel.canonical>[0]): void {
  const value: SocketService = socketServiceModel.canonical(input);
  validate!(socketServiceModel.key(value), value);
}

const [mapping] = web.mappings;
const rejected = {
  'a name with a zero byte, which ends it in the table': [{ ...web, name: 'default/a\0b' }, 'name'],
  'a name that is too long in bytes': [{ ...web, name: 'ä'.repeat(163) }, 'name'],
  'an address twice in a mapping': [
    { ...web, mappings: [{ ...mapping, frontends: [frontend, frontend] }] },
    'frontends',
  ],
  'an address in two mappings': [
    { ...web, mappings: [mapping, { ...mapping, backends: [] }] },
    'frontends',
  ],
  'an address in two spellings': [
    {
      ...web,
      mappings: [
        { ...mapping, frontends: [frontend, { ...frontend, address: '::ffff:10.96.0.10' }] },
      ],
    },
    'frontends',
  ],
  'a backend twice': [
    { ...web, mappings: [{ ...mapping, backends: [backend, backend] }] },
    'backends',
  ],
  'nodes with an address of their own': [
    { ...web, mappings: [{ ...mapping, frontends: [{ ...frontend, scope: 'THIS_NODE' }] }] },
    'scope',
  ],
  'the unspecified address without nodes': [
    { ...web, mappings: [{ ...mapping, frontends: [{ ...frontend, address: '0.0.0.0' }] }] },
    'scope',
  ],
  'port 0': [{ ...web, mappings: [{ ...mapping, frontends: [{ ...frontend, port: 0 }] }] }, 'port'],
  'no address': [{ ...web, mappings: [{ ...mapping, frontends: [] }] }, 'frontends'],
} as const;

for (const [title, [input, field]] of Object.entries(rejected))
  test(`${title} is rejected`, () => {
    assert.throws(() => check(input as never), { name: 'InvalidValueError', fields: [field] });
  });

test('the same address for both protocols is accepted, and so is the longest name of host ports', () => {
  check({
    ...web,
    name: `${'n'.repeat(63)}/pod:${'p'.repeat(253)}`,
    mappings: [{ ...mapping!, frontends: [frontend, { ...frontend, protocol: 'UDP' }] }],
  } as never);
});

const table = new SimSocketTable(seededRandom(1), new ManualClock());

test('the address of a node is one', () => {
  const descriptor = socketNodeAddressDescriptor(table);
  const address = { name: 'InvalidValueError', fields: ['address'] };
  for (const wrong of ['', '0.0.0.0', '::', '::ffff:0.0.0.0']) {
    const value = socketNodeAddressModel.canonical({ address: wrong });
    const key = socketNodeAddressModel.key(value);
    assert.throws(() => descriptor.validate!(key, value), address, wrong);
  }
  const value = socketNodeAddressModel.canonical({ address: 'fd16::1' });
  descriptor.validate!(socketNodeAddressModel.key(value), value);
});

test('an exemption fits into the table', () => {
  const descriptor = socketExemptionDescriptor(table);
  const path = '/run/netns/pod';
  for (const [field, name, namespace] of [
    ['name', '', path],
    ['name', 'n'.repeat(65), path],
    ['name', 'a\0b', path],
    ['namespace', 'a', ''],
    ['namespace', 'a', `/${'p'.repeat(256)}`],
    ['namespace', 'a', '/run\0'],
  ]) {
    const value = socketExemptionModel.canonical({ name, namespace });
    const key = socketExemptionModel.key(value);
    const invalid = { name: 'InvalidValueError', fields: [field] };
    assert.throws(() => descriptor.validate!(key, value), invalid, `${name} ${namespace}`);
  }
  const value = socketExemptionModel.canonical({ name: 'n'.repeat(64), namespace: path });
  descriptor.validate!(socketExemptionModel.key(value), value);
});
