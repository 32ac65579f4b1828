import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type AnyResource, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { CNIReply, CNIRequest, RemoteCNIService } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { InvalidModelError } from '#models/model.ts';

/** The resource that the original writes for each kind of object. */
const resourceOfKind: Readonly<Record<string, AnyResource>> = {
  Pod: resources.pod,
  Namespace: resources.namespace,
  NetworkPolicy: resources.policy,
  Service: resources.service,
  Endpoints: resources.endpoints,
  Node: resources.node,
  NodeConfig: resources.nodeconfig,
  CustomNetwork: resources.customnetwork,
  ExternalInterface: resources['external-interface'],
  ServiceFunctionChain: resources.servicefunctionchain,
};

/** Values that agents of the original write. */
const stored: readonly (readonly [AnyResource, string])[] = [
  [resources.vppnode, '{"id":1,"name":"node-a","ip_addresses":["192.168.16.1/24","fd00::1/64"]}'],
  [resources.vppnode, '{"id":2,"name":"node-b","ip_address":"192.168.16.2/24"}'],
  [
    resources.idalloc,
    '{"name":"vni","range":{"min_id":5000,"max_id":16777216,"reserved":[5001]},"id_allocations":{"blue":{"id":5002,"owner":"node-a"},"green":{"id":5003}}}',
  ],
  [
    resources['custom-ipam'],
    '{"pod_name":"web","pod_namespace":"storefront","custom_interfaces":[{"name":"eth1","network":"blue","ip_address":"172.20.1.3","service_endpoint":true},{"name":"eth2"}]}',
  ],
];

function originals(): [AnyResource, string][] {
  const path = new URL('../kubernetes/reflector/golden/original.json', import.meta.url);
  const texts = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  return Object.entries(texts).map(([title, text]) => [
    resourceOfKind[title.split(' ')[0] as string] as AnyResource,
    text,
  ]);
}

test('a value of the original is parsed and serialized byte for byte', () => {
  const values = [...originals(), ...stored];
  assert.equal(new Set(values.map(([resource]) => resource.keyword)).size, 13);
  for (const [resource, text] of values) {
    const value = resource.model.parse(JSON.parse(text));
    assert.equal(valueText(resource, value), text);
    assert.deepEqual(resource.model.decodeWire(resource.model.encodeWire(value)), value);
  }
});

test('the order of labels does not matter', () => {
  const labels = [
    { key: 'app', value: 'web' },
    { key: 'tier', value: 'front' },
    { key: 'zone', value: '' },
  ];
  const { model } = resources.pod;
  assert.deepEqual(
    model.canonical({ name: 'a', label: labels }),
    model.canonical({ name: 'a', label: labels.toReversed() }),
  );
});

test('JSON in other spellings that Go accepts has the same meaning', () => {
  assert.deepEqual(
    resources.policy.model.parse({ name: 'a', policyType: 3, ingressRule: [{}], pods: null }),
    resources.policy.model.canonical({
      name: 'a',
      policy_type: 'INGRESS_AND_EGRESS',
      ingress_rule: [{}],
    }),
  );
  assert.deepEqual(
    resources.node.model.parse({ name: 'n', podCIDR: '10.1.1.0/24' }),
    resources.node.model.canonical({ name: 'n', pod_CIDR: '10.1.1.0/24' }),
  );
});

test('an invalid value is rejected with its key and field', () => {
  const where = 'k8s/pod/web/namespace/shop';
  assert.throws(
    () => resources.pod.model.parse({ name: 'web', ipAdress: '10.1.1.1' }, where),
    (thrown: Error) =>
      thrown instanceof InvalidModelError &&
      thrown.message.includes(where) &&
      thrown.message.includes('ipAdress'),
  );
  const { model } = resources.policy;
  assert.throws(() => model.parse({ policy_type: 'SOMETIMES' }), InvalidModelError);
  assert.throws(() => model.parse({ pods: [] }), InvalidModelError);
  assert.throws(() => model.parse('{}'), InvalidModelError);
});

test('an address has one spelling; other text in its place is kept, and the rest is valid', () => {
  const service = resources.service.model.parse({
    cluster_ip: 'None',
    external_ips: ['2001:DB8:0::1', 'nonsense'],
    lb_ingress_ips: [''],
  });
  assert.equal(service.cluster_ip, 'None');
  assert.deepEqual(service.external_ips, ['2001:db8::1', 'nonsense']);
  assert.deepEqual(service.lb_ingress_ips, ['']);
});

test('leading zeros in the address of a node record are decimal, with and without a prefix length', () => {
  const record = { id: 2, name: 'b', ip_addresses: ['192.168.016.002/24', 'nonsense'] };
  assert.deepEqual(resources.vppnode.model.parse(record).ip_addresses, [
    '192.168.16.2/24',
    'nonsense',
  ]);
  const node = resources.node.model.parse({
    name: 'b',
    pod_CIDR: '10.01.2.0/024',
    addresses: [{ type: 3, address: '172.016.0.06' }],
  });
  assert.equal(node.pod_CIDR, '10.1.2.0/24');
  assert.equal(node.addresses[0]!.address, '172.16.0.6');
});

test('CNI messages have the field numbers and paths of the original', () => {
  assert.equal(RemoteCNIService.Add.path, '/cni.RemoteCNI/Add');
  assert.equal(RemoteCNIService.Delete.path, '/cni.RemoteCNI/Delete');
  const request = messageCodec(CNIRequest);
  const bytes = request.encodeWire(
    request.canonical({
      version: '1',
      container_id: 'c',
      network_namespace: '/n',
      ipam_data: '{}',
    }),
  );
  assert.equal(Buffer.from(bytes).toString('hex'), '0a0131120163' + '1a022f6e' + '42027b7d');
  const reply = messageCodec(CNIReply);
  const answer = reply.canonical({
    interfaces: [{ name: 'eth0', ip_addresses: [{ version: 'IPV6', address: 'fd00::2/128' }] }],
    routes: [{ dst: '::/0', gw: 'fd00::1' }],
  });
  const hex = Buffer.from(reply.encodeWire(answer)).toString('hex');
  assert.equal(hex.slice(0, 4), '2217', 'interfaces are field 4');
  assert.deepEqual(reply.decodeWire(reply.encodeWire(answer)), answer);
});
