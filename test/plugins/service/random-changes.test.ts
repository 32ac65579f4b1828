/** Any sequence of changes leads to the values that a resync of its end puts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { nodeValue, sorted } from '../test-node.ts';
import {
  endpointsValue,
  localPod,
  remotePod,
  serviceValue,
  type TestEndpoint,
} from './service-values.ts';

const STEPS = 40;
const YAML = 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24, defaultGateway: 192.168.16.100}';
const names = ['a', 'b', 'c'];
const endpoints: readonly TestEndpoint[] = [
  localPod(2),
  localPod(3),
  remotePod(2),
  { ip: '198.51.100.5', node: '' },
  { ip: '172.16.0.5', node: 'node-a', pod: 'host' },
];

async function run(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random.next() * limit);
  const some = <T>(all: readonly T[]) => all.filter(() => below(2) === 0);
  const node = await startedNode({ yaml: YAML });
  for (let step = 0; step < STEPS; step++) {
    const at = below(names.length);
    const name = names[at]!;
    const service = serviceValue(name, `10.96.0.${10 + at}`, {
      service_type: below(2) === 0 ? 'NodePort' : 'ClusterIP',
      external_ips: some(['203.0.113.50', '203.0.113.51']),
      session_affinity: 'ClientIP',
      session_affinity_timeout: below(2) * 600,
      port: [{ name: 'http', protocol: 'TCP', port: 80 + below(2), node_port: 30080 + at }],
    });
    const container = `c${below(2)}`;
    const own = ['172.16.0.5', '203.0.113.50'][below(2)]!;
    const changeOwnAddress = () => {
      node.host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: [`${own}/24`] }];
      return node.put(nodeValue('node-a', own));
    };
    const actions = [
      () => node.put(service),
      () => node.put(endpointsValue(name, some(endpoints))),
      () => node.put(endpointsValue(name, some(endpoints))),
      () => node.remove(service),
      () => node.add(container, container),
      () => node.del(container, container),
      changeOwnAddress,
    ];
    const { error } = await actions[below(actions.length)]!();
    assert.equal(error, undefined, `seed ${seed}, step ${step}`);
    const before = sorted(node.config);
    const problems = [...node.services.serviceProblems()].sort();
    await node.heal();
    assert.deepEqual(sorted(node.config), before, `seed ${seed}, step ${step}`);
    assert.deepEqual([...node.services.serviceProblems()].sort(), problems);
  }
}

describe('services that change at random', () => {
  for (let seed = 1; seed <= 5; seed++)
    it(`have the values of a resync after each change (seed ${seed})`, () => run(seed));
});
