import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import { AddPod, DeletePod } from '#plugins/podmanager/api.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { FakeHost } from '../fake-ports.ts';
import { checkHandler } from '../handler-bench.ts';
import { nonDefaultFields } from '../ipv4net/vpp-with.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { type KubeValue, nodeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from './service-values.ts';

const DNAT = 'config/vpp/nat/v2/dnat44/';
/** Routes that refuse clients of the cluster IP. */
const REFUSALS = [0, 1].map((vrf) => `config/vpp/v2/route/vrf/${vrf}/dst/10.96.0.10/32/gw/0.0.0.0`);
const INTERFACE = 'config/vpp/nat/v2/nat44-interface/';

const web = serviceValue('web', '10.96.0.10');
const webEndpoints = endpointsValue('web', [localPod(2), remotePod(2)]);

describe('a defect of the handler in a resync', () => {
  it('leaves VPP as it is: it removes neither services nor anything else', async () => {
    const node = await startedNode();
    await node.put(web);
    await node.put(webEndpoints);
    const before = new Map(node.config);
    assert.ok(before.has(`${DNAT}default/web`));
    // no producer sends such a state
    const broken: KubeValue = { ...serviceValue('db', '10.96.0.11'), value: null as never };
    const state = [...node.state(), broken];
    const { error } = await node.resync(state);
    assert.deepEqual(node.config, before);
    assert.ok(error instanceof AbortEventError && error.cause instanceof TypeError);
    assert.ok((await node.restart().resync(state)).error instanceof AbortEventError);
  });
});

describe('a service', () => {
  it('is one value, with a mapping for each address and port', async () => {
    const node = await startedNode();
    await node.put(
      serviceValue('web', '10.96.0.10', {
        service_type: 'NodePort',
        session_affinity: 'ClientIP',
        session_affinity_timeout: 600,
        port: [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30080 }],
      }),
    );
    const { txn, changes } = await node.put(webEndpoints);
    assert.deepEqual(changes, ['service: services: default/web']);
    assert.deepEqual([...txn.values.keys()], [...REFUSALS, `${DNAT}default/web`]);
    const locals = [
      { vrf_id: 1, local_ip: '10.1.1.2', local_port: 8080, probability: 2 },
      { vrf_id: 1, local_ip: '10.1.2.2', local_port: 8080, probability: 2 },
    ];
    const common = { protocol: 'TCP', session_affinity: 600, local_ips: locals };
    const nodePort = { ...common, external_port: 30080, twice_nat: 'ENABLED' };
    const found = node.at<{ st_mappings: object[] }>(`${DNAT}default/web`);
    assert.deepEqual(found.st_mappings.map(nonDefaultFields), [
      { external_ip: '10.96.0.10', external_port: 80, twice_nat: 'SELF', ...common },
      { external_ip: '172.16.0.5', ...nodePort },
      { external_ip: '192.168.16.1', ...nodePort },
    ]);
  });

  it('has no node port on the addresses of services, which kube-proxy adds to a link in IPVS mode', async () => {
    const host = new FakeHost();
    const ipvs = { name: 'kube-ipvs0', mtu: 1500, addresses: ['10.96.0.10/32', '10.96.0.11/32'] };
    host.hostLinks.push(ipvs);
    const node = await startedNode({ host });
    const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30080 }];
    await node.put(serviceValue('web', '10.96.0.10', { service_type: 'NodePort', port }));
    await node.put(webEndpoints);
    const found = node.at<{ st_mappings: { external_ip: string }[] }>(`${DNAT}default/web`);
    assert.deepEqual(
      found.st_mappings.map(({ external_ip }) => external_ip),
      ['10.96.0.10', '172.16.0.5', '192.168.16.1'],
    );
  });

  it('refuses its clients without backends, in both tables', async () => {
    const node = await startedNode();
    const { txn } = await node.put(web);
    assert.deepEqual([...txn.values.keys()], REFUSALS);
    const route = { dst_network: '10.96.0.10/32', next_hop_addr: '0.0.0.0' };
    assert.deepEqual(
      REFUSALS.map((key) => nonDefaultFields(node.at(key))),
      [
        { ...route, type: 'UNREACHABLE' },
        { ...route, type: 'INTER_VRF', vrf_id: 1 },
      ],
    );
    const { txn: first } = await node.put(webEndpoints);
    assert.deepEqual(
      [...first.values].filter(([, value]) => value === null).map(([key]) => key),
      REFUSALS,
    );
    const { txn: last } = await node.put(endpointsValue('web', []));
    assert.deepEqual([...last.values.keys()], [`${DNAT}default/web`, ...REFUSALS]);
    assert.equal(last.values.get(`${DNAT}default/web`), null);
  });

  it('refuses no clients of an address outside of the service subnet', async () => {
    const node = await startedNode();
    const { txn } = await node.put(serviceValue('web', '192.168.16.100'));
    assert.equal(txn.values.size, 0);
  });

  it('is put again only if its value changes', async () => {
    const node = await startedNode();
    await node.put(web);
    await node.put(webEndpoints);
    const { txn } = await node.put(endpointsValue('web', [remotePod(2), localPod(2)]));
    assert.equal(txn.values.size, 0);
  });

  it('of any length of name is carried under its whole name', async () => {
    const node = await startedNode();
    const name = 's'.repeat(63);
    await node.put(serviceValue(name, '10.96.0.10'));
    await node.put(endpointsValue(name, [localPod(2)]));
    assert.equal(node.at<{ label: string }>(`${DNAT}default/${name}`).label, `default/${name}`);
  });

  it('uses the first 254 of its backends, local ones first, and reports the cut by its name', async () => {
    const node = await startedNode();
    const remote = Array.from({ length: 250 }, (_, at) => remotePod(at + 2));
    const local = Array.from({ length: 50 }, (_, at) => localPod(at + 2));
    await node.put(web);
    await node.put(endpointsValue('web', [...remote, ...local]));
    const [mapping] = node.at<{ st_mappings: { local_ips: { local_ip: string }[] }[] }>(
      `${DNAT}default/web`,
    ).st_mappings;
    assert.equal(mapping!.local_ips.length, 254);
    const locals = mapping!.local_ips.filter(({ local_ip }) => local_ip.startsWith('10.1.1.'));
    assert.equal(locals.length, 50);
    assert.deepEqual(
      [...node.services.serviceProblems()],
      [
        [
          'default/web',
          [
            '10.96.0.10 TCP port 80: 46 of 300 backends are not used, because VPP balances over 254',
          ],
        ],
      ],
    );
    await node.put(endpointsValue('web', local));
    assert.equal(node.services.serviceProblems().size, 0);
  });
});

describe('a change of endpoints', () => {
  it('costs the same among many services with problems and health checks', async () => {
    const [few, many] = [await effortAmong(2), await effortAmong(60)];
    assert.deepEqual(many, few);
  });
});

/** Entries of maps that are visited, and calls of the listener, when an endpoint is added to a service. */
async function effortAmong(others: number): Promise<object> {
  const node = await startedNode();
  for (let at = 0; at < others; at++)
    await node.put(
      serviceValue(`other-${at}`, `10.96.1.${at}`, {
        service_type: 'LoadBalancer',
        external_traffic_policy: 'Local',
        health_check_node_port: 31_000 + at,
        loadbalancer_source_ranges: ['10.9.0.0/33'],
      }),
    );
  await node.put(web);
  await node.put(endpointsValue('web', [remotePod(2)]));
  assert.equal(node.services.serviceProblems().size, others);
  let calls = 0;
  node.services.watchHealthChecks(() => {
    calls++;
  });
  let visits = 0;
  const plain = Map.prototype[Symbol.iterator];
  Map.prototype[Symbol.iterator] = function* (this: Map<unknown, unknown>) {
    const entries = plain.call(this);
    for (let one = entries.next(); !one.done; one = entries.next()) {
      visits++;
      yield one.value;
    }
  } as typeof plain;
  try {
    const { txn } = await node.put(webEndpoints);
    assert.equal(txn.values.size, 1);
  } finally {
    Map.prototype[Symbol.iterator] = plain;
  }
  return { visits, calls };
}

describe('a pod', () => {
  it('adds the features of its interface, and nothing else of services', async () => {
    const node = await startedNode();
    const natOf = (values: ReadonlyMap<string, unknown>) =>
      [...values].filter(([key]) => key.startsWith('config/vpp/nat/'));
    const { txn } = await node.add('web', 'c1');
    const value = {
      name: 'vpp-tap-c1',
      nat_inside: true,
      nat_outside: false,
      output_feature: false,
      classify: true,
      output_only: false,
    };
    assert.deepEqual(natOf(txn.values), [[`${INTERFACE}vpp-tap-c1`, value]]);
    const { txn: removal } = await node.del('web', 'c1');
    assert.deepEqual(natOf(removal.values), [[`${INTERFACE}vpp-tap-c1`, null]]);
  });

  it('that VPP rejects leaves no features behind', async () => {
    const node = await startedNode();
    const before = node.services.describeInternalData?.();
    node.rejects = () => true;
    assert.ok((await node.add('web', 'c1')).error);
    node.rejects = () => false;
    assert.equal(node.services.describeInternalData?.(), before);
    assert.equal((await node.heal()).error, undefined);
    assert.equal(node.config.has(`${INTERFACE}vpp-tap-c1`), false);
  });
});

describe('services', () => {
  it('hold the rules of event handlers', () => {
    const stores = { cluster: new MemoryStore(), local: new MemoryStore() };
    const host = new FakeHost();
    host.namespaces.set('/run/netns/c1', 1);
    const others = [
      vppNodeValue(2, 'node-b', '192.168.16.2/24'),
      nodeValue('node-b', '172.16.0.6'),
    ];
    const kubeState: Record<string, Record<string, object>> = {};
    for (const { resource, key, value } of [nodeValue('node-a', '172.16.0.5'), ...others, web])
      kubeState[resource] = { ...kubeState[resource], [key]: value };
    const put = ({ resource, key, value }: KubeValue): Event =>
      KubeStateChange.event({ resource, key, previous: {}, current: value }) as Event;
    const pod = {
      pod: { namespace: 'default', name: 'web' },
      containerId: 'c1',
      interfaceName: 'eth0',
    };
    return checkHandler({
      create: () => new TestNode({ ...stores, host }),
      startup: DbResync.event({ local: false, kubeState, externalConfig: {} }) as Event,
      updates: [
        put(webEndpoints),
        AddPod.event({
          ...pod,
          networkNamespace: '/run/netns/c1',
          ipamType: '',
          ipamData: '',
        }) as Event,
        put(serviceValue('db', '10.96.0.11')),
        put(endpointsValue('db', [remotePod(3)])),
        put(endpointsValue('web', [localPod(2)])),
        put(nodeValue('node-a', '172.16.0.7')),
        KubeStateChange.event({ ...web, previous: web.value, current: undefined }) as Event,
        DeletePod.event(pod) as Event,
      ],
    });
  });

  it('are removed by a shutdown with cleanup', async () => {
    const { Shutdown } = await import('#plugins/controller/api/events.ts');
    const node = await startedNode();
    await node.put(web);
    await node.put(webEndpoints);
    await node.run(Shutdown.event({ cleanup: true }) as Event);
    assert.deepEqual([...node.config.keys()], []);
  });
});
