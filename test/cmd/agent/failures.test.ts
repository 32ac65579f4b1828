/** docs/failures.md, played against an agent: outcome, probes, and recovery without a restart. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { bandwidthAnnotations } from '#kubernetes/models/bandwidth-annotations.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { DbResync } from '#plugins/controller/api/events.ts';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { type AgentOptions, addPod, type Node, type RunningAgent, until } from './harness.ts';
import {
  MAIN_INTERFACE,
  nodeWithNics,
  Scenario,
  section,
  setNodeConfig,
  tellOfNode,
} from './scenario.ts';
import { web } from './test-pods.ts';

const controller = { delayAfterErrorHealing: '10ms', enableRetry: false } as const;
const vppNode = (id: number) => REFLECTOR_PREFIX + resources.vppnode.key(String(id), '');
const CONFIG = '/vnf-agent/node1/config/vpp/v2/interfaces/';

interface Played {
  readonly options?: AgentOptions;
  /** Changes the node before its agent starts, and may return more options. */
  readonly prepare?: (node: Node) => Promise<AgentOptions | undefined> | AgentOptions | undefined;
  /** Causes the failure in a running agent. */
  readonly cause?: (scenario: Scenario) => Promise<void> | void;
  /** The failure is visible by now. */
  readonly seen?: (scenario: Scenario) => Promise<boolean> | boolean;
  /** Takes the cause back; undefined: it cannot be taken back while the agent runs. */
  readonly undo?: (scenario: Scenario) => Promise<void> | void;
  /** Pods can be attached meanwhile. Default: if the failure is reported or retried. */
  readonly attaches?: boolean;
}

async function reason({ running }: Scenario, component: string): Promise<string> {
  const { body } = await running.get('/readiness');
  const { PluginStatus } = body as { PluginStatus: Record<string, { error?: string }> };
  return PluginStatus[component]?.error ?? '';
}

async function tellOfBandwidth({ cluster }: Node, egress: string): Promise<void> {
  const { model } = resources.pod;
  const annotations = { [bandwidthAnnotations.egress]: egress };
  const value = model.canonical({ name: web.name, namespace: 'default', annotations });
  const key = REFLECTOR_PREFIX + resources.pod.key(web.name, 'default');
  await cluster.put(key, JSON.stringify(model.toJson(value)));
}

const tellOfKeys = (node: Node, keys: readonly string[]): Promise<void> =>
  tellOfNode(node, 'node2', { address: '172.16.0.6', id: 2, vpp: '192.168.16.2/24', keys });

const shows =
  (text: RegExp, component = 'configuration') =>
  async (scenario: Scenario) =>
    text.test(await reason(scenario, component));

const logs = (text: RegExp) => (scenario: Scenario) =>
  scenario.running.logged.some((line) => text.test(JSON.stringify(line)));

const daemons: FakeStnDaemon[] = [];
after(() => {
  for (const daemon of daemons) daemon.close();
});

const socketFile = () => join(temporaryFolder('stn'), 'stn.sock');

async function stnDaemon(stnSocketFile: string): Promise<FakeStnDaemon> {
  const daemon = await FakeStnDaemon.start(stnSocketFile);
  daemons.push(daemon);
  daemon.taken.set('eth1', {
    result: 0,
    pci_address: '0000:0b:00.0',
    ip_addresses: ['10.20.0.5/24'],
    routes: [],
  });
  return daemon;
}

/** A play of each row. */
function plays(): Record<string, Played> {
  const refused = socketFile();
  const silent = socketFile();
  let daemon: FakeStnDaemon | undefined;
  let cluster: FaultInjectingStore | undefined;
  return {
    'a value that VPP, Linux or its descriptor rejects permanently': {
      cause: ({ node }) =>
        node.cluster.put(
          `${CONFIG}bad`,
          '{"name":"bad","type":"DPDK","phys_address":"02:00:00:00:00:01"}',
        ),
      seen: shows(/interfaces\/bad: .*CV_SCHED_INVALID_VALUE/),
      undo: ({ node }) => node.cluster.delete(`${CONFIG}bad`).then(() => undefined),
    },
    'a NIC of the configuration that does not exist': {
      options: { contiv: { nodeConfig: [section({ name: 'host-eth9' })] } },
      seen: shows(/contiv\.conf: interface "host-eth9" does not exist/),
      undo: ({ node }) => void node.linux.addNic('eth9'),
    },
    'an invalid NodeConfig of this node': {
      options: { contiv: { crdNodeConfigurationDisabled: false } },
      prepare: async (node) => {
        await setNodeConfig(node, {});
        return undefined;
      },
      cause: ({ node }) => setNodeConfig(node, { gateway: 'not-an-ip' }),
      seen: shows(/nodeconfig\/node1.*gateway: "not-an-ip"/),
      undo: ({ node }) => setNodeConfig(node, { gateway: '192.168.16.250' }),
    },
    'no NodeConfig on a node that is configured by it and never had one': {
      options: { contiv: { crdNodeConfigurationDisabled: false }, waits: true },
      seen: shows(/waiting for the NodeConfig/, 'node-config'),
      undo: ({ node }) => setNodeConfig(node, {}),
    },
    'a NIC that the STN daemon does not know': {
      options: { contiv: { stealInterface: 'eth7', stnSocketFile: refused } },
      prepare: async () => {
        daemon = await stnDaemon(refused);
        return undefined;
      },
      seen: shows(/VPP cannot take over NIC "eth7"/),
      undo: () => {
        daemon!.taken.set('eth7', daemon!.taken.get('eth1')!);
      },
    },
    'the STN daemon does not answer at the first start': {
      options: { contiv: { stealInterface: 'eth1', stnSocketFile: silent } },
      seen: shows(/cannot read the configuration of the host on the NIC/),
      undo: async () => {
        daemon = await stnDaemon(silent);
      },
    },
    'another node has the node ID of this one': {
      cause: ({ node }) => node.cluster.put(vppNode(1), '{"id":1,"name":"node-z"}'),
      seen: shows(/node1.*node-z/),
      undo: ({ node }) => node.cluster.delete(vppNode(1)).then(() => undefined),
    },
    'the own node record is invalid': {
      prepare: async (node) => {
        await node.local.put('local/nodesync/id', '{"id":1,"name":"node1"}');
        await node.cluster.put(vppNode(1), 'junk');
        return undefined;
      },
      seen: logs(/replacing the invalid record/),
      undo: () => undefined,
    },
    'an invalid record or external value in etcd': {
      cause: async ({ node }) => {
        await node.cluster.put(vppNode(7), '[1]');
        await node.cluster.put(`${CONFIG}junk`, '{"name":');
      },
      seen: logs(
        /ignoring invalid value in the datastore.*interfaces\/junk|interfaces\/junk.*ignoring/,
      ),
      undo: ({ node }) => node.cluster.delete(`${CONFIG}junk`).then(() => undefined),
    },
    'an address in the records of a node that cannot be used': {
      cause: async ({ node }) => {
        await tellOfNode(node, 'node2', { address: '172.16.0.6', id: 2, vpp: '127.0.0.1/8' });
      },
      seen: shows(/node node2: 127\.0\.0\.1\/8 is a loopback address/, 'nodes'),
      undo: ({ node }) =>
        tellOfNode(node, 'node2', { address: '172.16.0.6', id: 2, vpp: '192.168.16.2/24' }),
    },
    'a key in the record of a node that cannot be used': {
      options: { contiv: { nodeToNodeTransport: 'wireguard' } },
      cause: ({ node }) => tellOfKeys(node, ['no key', testKeyPair('node2').publicKey]),
      seen: shows(/node node2: no key is no key of WireGuard/, 'nodes'),
      undo: ({ node }) => tellOfKeys(node, [testKeyPair('other').publicKey]),
    },
    'an annotation for the bandwidth of a pod that cannot be used, or a VPP without policers': {
      cause: async ({ node, running }) => {
        await tellOfBandwidth(node, '10 Mbit');
        assert.equal((await addPod(running, web)).error, '');
      },
      seen: shows(/web: .* "10 Mbit" is no quantity/, 'bandwidth'),
      undo: ({ node }) => tellOfBandwidth(node, '10M'),
    },
    'a Node object of this node with another case of its name': {
      options: { label: 'Node1' },
      seen: shows(/CV_NODESYNC_NAME/),
      undo: ({ node }) => tellOfNode(node, 'Node1', { address: '172.16.0.5' }),
    },
    'subnets that cut off running pods, or would': {
      prepare: async (node) => {
        await using first = await Scenario.start({ controller }, node);
        const pod = { name: 'old', containerId: 'c', netns: '/run/netns/old' };
        assert.equal((await addPod(first.running, pod)).error, '');
        return { ipam: { podSubnetCIDR: '10.7.0.0/16' } };
      },
      seen: shows(/CV_IPAM_SUBNETS_IN_USE/),
    },
    'a pod subnet of an external IPAM that services and hosts cannot reach': {
      options: { ipam: { useExternalIPAM: true } },
      prepare: async (node) => {
        await tellOfNode(node, 'node1', { address: '172.16.0.5', podCidr: '10.244.1.0/24' });
        return undefined;
      },
      seen: shows(/CV_IPAM_SUBNET_OUTSIDE/),
      undo: ({ node }) =>
        tellOfNode(node, 'node1', { address: '172.16.0.5', podCidr: '10.1.70.0/24' }),
      // the runtime would have to bring an address
      attaches: false,
    },
    'no DHCP lease for the main interface': {
      options: { contiv: { nodeConfig: [section({ useDhcp: true })] } },
      seen: shows(/CV_NET_NO_LEASE/),
      undo: ({ node }) => {
        node.vpp.dhcpServer.offer(MAIN_INTERFACE, {
          address: '192.168.16.50/24',
          router: '192.168.16.1',
        });
      },
    },
    'no addresses for this node in the address plan': {
      options: { ipam: { podSubnetCIDR: '10.1.0.0/22', podSubnetOneNodePrefixLen: 24 } },
      prepare: async (node) => {
        await node.local.put('local/nodesync/id', '{"id":99,"name":"node1"}');
        return undefined;
      },
      seen: shows(/no addresses for node ID 99/),
    },
    'VPP is not connected': {
      cause: ({ node }) => node.vpp.crash(),
      seen: shows(/VPP disconnected/, 'vpp'),
      undo: ({ node }) => node.vpp.start(),
    },
    'etcd does not answer': {
      prepare: (node) => {
        cluster = new FaultInjectingStore(node.cluster);
        return { environment: { ...node, cluster, connectVpp: node.vpp.connect() } };
      },
      cause: () => cluster!.disconnect(),
      seen: shows(/./, 'etcd'),
      undo: () => cluster!.reconnect(),
      attaches: true,
    },
    'the network namespace of a pod was deleted': {
      cause: async ({ running, node }) => {
        await addPod(running, { ...web, name: 'gone', containerId: 'b', netns: '/run/netns/gone' });
        node.linux.removeNamespace('/run/netns/gone');
        running.agent.controller.scheduleHealing('test', 0);
      },
      seen: ({ running }) =>
        running.agent.controller.history.records.some(({ transactionError = '' }) =>
          transactionError.includes('/run/netns/gone'),
        ),
      undo: () => undefined,
      attaches: true,
    },
    'a feature that is not supported yet': {
      options: { contiv: { useSRv6ForServices: true } },
      seen: shows(/SRv6 for services/, 'unsupported-features'),
      undo: () => undefined,
    },
    'a defect of the agent in a handler, also in the healing resync': {
      cause: ({ running }) => {
        // no producer sends such a state
        const kubeState = { pod: { 'k8s/pod/web/namespace/default': null as unknown as object } };
        running.agent.controller.push(
          DbResync.event({ local: false, kubeState, externalConfig: {} }),
        );
      },
      seen: shows(/healing has not been successful/, 'controller'),
    },
    'the local store cannot be read at the start': {
      prepare: (node) => {
        node.local.get = () => Promise.reject(new Error('I/O error'));
        node.local.list = () => Promise.reject(new Error('I/O error'));
        return undefined;
      },
      seen: shows(/local store/, 'controller'),
    },
  };
}

interface Row {
  readonly failure: string;
  readonly text: string;
  readonly follows: string;
  readonly liveness: number;
  readonly readiness: number;
}

const document = readFileSync('docs/failures.md', 'utf8');
const rows = document
  .split('\n')
  .filter((line) => /^\| (?!failure)/.test(line))
  .map((line): Row => {
    const [failure = '', , follows = '', liveness, readiness] = line.slice(2).split(' | ');
    const codes = { liveness: Number(liveness), readiness: Number(readiness) };
    return { failure, text: line, follows, ...codes };
  });

async function probes(running: RunningAgent): Promise<[number, number]> {
  return [(await running.get('/liveness')).status, (await running.get('/readiness')).status];
}

describe('docs/failures.md', { timeout: 120_000 }, () => {
  const played = plays();

  it('has exactly the rows that are played', () => {
    assert.deepEqual(
      rows.map(({ failure }) => failure),
      Object.keys(played),
    );
    for (const { follows, liveness } of rows) {
      assert.match(follows, /^(retried|waits|reported|fatal)$/);
      assert.equal(liveness, follows === 'fatal' ? 500 : 200);
    }
  });

  it('names every error with a trait that decides about healing', () => {
    const sources = globSync('{src,plugins}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const specs = sources.flatMap((text) => text.match(/defineError\(\{.*?\n\}\)/gs) ?? []);
    const decisive = specs.filter((spec) => /isRetriable: false|unavailable:/.test(spec));
    assert.ok(decisive.length >= 5);
    for (const spec of decisive) {
      const code = /code: '(CV_\w+)'/.exec(spec)![1]!;
      assert.ok(document.includes(`\`${code}\``), code);
    }
  });

  for (const { failure, follows, liveness, readiness } of rows)
    it(`${follows}: ${failure}`, async () => {
      const { options = {}, prepare, cause, seen, undo, attaches } = played[failure]!;
      const node = await nodeWithNics();
      const more = await prepare?.(node);
      await using scenario = await Scenario.start({ controller, ...options, ...more }, node);
      const { running } = scenario;
      if (cause) {
        await until(async () => (await probes(running))[1] === 200);
        await cause(scenario);
      }
      await until(async () => (await seen?.(scenario)) ?? true);
      assert.deepEqual(await probes(running), [liveness, readiness]);
      if (attaches ?? (follows === 'reported' || follows === 'retried'))
        assert.equal((await addPod(running, web)).error, '');
      if (!undo) return;
      await undo(scenario);
      await until(async () => {
        const [alive, ready] = await probes(running);
        assert.equal(alive, 200);
        return ready === 200;
      });
    });
});
