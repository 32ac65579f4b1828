/** The faults of docs/faults.md, and what they are made on. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { bandwidthAnnotations } from '#kubernetes/models/bandwidth-annotations.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { ATTACHMENT_PREFIX } from '#plugins/podmanager/api.ts';
import {
  type AgentOptions,
  addPod,
  type Node,
  type RunningAgent,
  reflectPod,
  replyAddress,
  startAgent,
} from '#test/cmd/agent/harness.ts';
import { writeChange } from '#test/cmd/agent/kube-change.ts';
import { nodeWithNics, section, tellOfNode } from '#test/cmd/agent/scenario.ts';
import { db, web } from '#test/cmd/agent/test-pods.ts';
import { type NetctlOptions, netctlIn } from '#test/netctl/support/in-process.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { type SkipReason, withoutMount, withoutOpenssl } from '#test/support/requirements.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

export interface Fault extends AsyncDisposable {
  readonly netctl: NetctlOptions;
}

export interface FaultKind {
  readonly skip?: SkipReason;
  begin(): Promise<Fault>;
}

/** Options of netctl besides its nodes. */
type Question = Omit<NetctlOptions, 'nodes'>;

interface Begin {
  readonly options?: AgentOptions;
  readonly netctl?: Question;
  readonly skip?: SkipReason;
  /** Before the agent starts; may return more options. */
  readonly prepare?: (node: Node) => Promise<AgentOptions | undefined> | AgentOptions | undefined;
  readonly cause?: (running: RunningAgent) => Promise<void> | void;
  /** After the agent has stopped. */
  readonly end?: () => Promise<void> | void;
}

const controller = { delayAfterErrorHealing: '10ms', enableRetry: false } as const;

/** On one agent with simulated VPP and Linux. */
function onOneNode({ options, netctl, skip = false, prepare, cause, end }: Begin): FaultKind {
  return {
    skip,
    async begin() {
      const node = await nodeWithNics();
      const more = await prepare?.(node);
      const running = await startAgent(node, { controller, ...options, ...more });
      await cause?.(running);
      return {
        netctl: { nodes: [{ name: 'node1', port: running.agent.port }], ...netctl },
        async [Symbol.asyncDispose]() {
          await running.stop();
          await end?.();
        },
      };
    },
  };
}

async function attach(running: RunningAgent, ...pods: readonly (typeof web)[]): Promise<void> {
  for (const pod of pods) {
    const reply = await addPod(running, pod);
    assert.equal(reply.error, '');
    await reflectPod(running.node, pod, replyAddress(reply));
  }
}

/** A policy of the namespace default for all pods. */
function policy(node: Node, name: string, more: object): Promise<void> {
  const key = resources.policy.key(name, 'default');
  const value = policyModel.canonical({
    name,
    namespace: 'default',
    pods: {},
    policy_type: 'INGRESS',
    ...more,
  });
  return writeChange(node, { resource: 'policy', key, value });
}

function service(node: Node, name: string, protocol: string): Promise<void> {
  const key = resources.service.key(name, 'default');
  const port = { name: 'p', protocol, port: 80 };
  const value = resources.service.model.canonical({
    name,
    namespace: 'default',
    cluster_ip: '10.96.7.7',
    service_type: 'ClusterIP',
    port: [port],
  });
  return writeChange(node, { resource: 'service', key, value });
}

export function faults(): Readonly<Record<string, FaultKind>> {
  const folder = temporaryFolder('faults');
  let disk: SmallDisk | undefined;
  let store: FaultInjectingStore | undefined;
  let local: LevelStore | undefined;
  return {
    'VPP has crashed': onOneNode({ cause: ({ node }) => node.vpp.crash() }),
    'etcd does not answer': onOneNode({
      prepare: (node) => {
        store = new FaultInjectingStore(node.cluster);
        return { environment: { ...node, cluster: store, connectVpp: node.vpp.connect() } };
      },
      cause: () => store!.disconnect('ECONNREFUSED 10.0.0.1:2379'),
    }),
    'the agent of a node has ended': {
      async begin() {
        const first = await nodeWithNics();
        const running = await startAgent(first);
        const other = await startAgent(
          { ...(await nodeWithNics()), cluster: first.cluster },
          { label: 'node2' },
        );
        const { port } = other.agent;
        await other.stop();
        return {
          netctl: {
            nodes: [
              { name: 'node1', port: running.agent.port },
              { name: 'node2', port },
            ],
          },
          [Symbol.asyncDispose]: () => running.stop(),
        };
      },
    },
    'a larger MTU than the NIC can send': onOneNode({ options: { contiv: { mtuSize: 64_000 } } }),
    'a NIC that does not exist': onOneNode({
      options: { contiv: { nodeConfig: [section({ name: 'host-eth9' })] } },
    }),
    'a policy that denies too much': onOneNode({
      cause: async (running) => {
        await attach(running, web, db);
        await policy(running.node, 'closed', {});
      },
    }),
    'a policy with a name of a port that no pod has': onOneNode({
      cause: async (running) => {
        await attach(running, web);
        const port = { protocol: 'TCP', port: { type: 'NAME', name: 'http' } };
        await policy(running.node, 'named', { ingress_rule: [{ port: [port] }] });
      },
    }),
    'a service without endpoints': onOneNode({
      cause: ({ node }) => service(node, 'empty', 'TCP'),
    }),
    'a service of a protocol that is not carried': onOneNode({
      cause: ({ node }) => service(node, 'sctp', 'SCTP'),
    }),
    'no address is free for another pod': onOneNode({
      options: { ipam: { podSubnetCIDR: '10.1.0.0/16', podSubnetOneNodePrefixLen: 29 } },
      cause: async (running) => {
        for (let at = 0; at < 9; at++) {
          const pod = { name: `p${at}`, containerId: `c${at}`, netns: `/run/netns/p${at}` };
          const reply = await addPod(running, pod);
          if (reply.error !== '') return;
          await reflectPod(running.node, pod, replyAddress(reply));
        }
      },
    }),
    'contiv-ksr does not run': onOneNode({
      prepare: async (node) => {
        await using first = await startAgent(node, { controller });
        assert.equal((await addPod(first, web)).error, '');
        await first.stop();
        // An hour ago.
        for (const { key, value } of (await node.local.list(ATTACHMENT_PREFIX)).entries) {
          const attachedAt = new Date(systemClock.wallTime() - 3_600_000).toISOString();
          await node.local.put(key, JSON.stringify({ ...JSON.parse(value), attachedAt }));
        }
        return undefined;
      },
    }),
    'two agents with the name of one node': {
      async begin() {
        const node = await nodeWithNics();
        const agents: RunningAgent[] = [];
        for (const address of ['172.16.0.5', '172.16.0.6'])
          agents.push(
            await startAgent(
              { ...(await nodeWithNics()), cluster: node.cluster },
              { env: { HOST_IP: address } },
            ),
          );
        return {
          netctl: { nodes: [{ name: 'node1', port: agents[0]!.agent.port }] },
          async [Symbol.asyncDispose]() {
            for (const agent of agents) await agent.stop();
          },
        };
      },
    },
    'an address of a node that cannot be used': onOneNode({
      cause: ({ node }) =>
        tellOfNode(node, 'node2', { address: '172.16.0.6', id: 2, vpp: '127.0.0.1/8' }),
    }),
    'the disk of the agent is full': onOneNode({
      skip: withoutMount(),
      prepare: async (node) => {
        disk = new SmallDisk('2m');
        local = await LevelStore.open({ folder: join(disk.folder, 'agent.level') });
        const environment = { ...node, local, localDisk: local, connectVpp: node.vpp.connect() };
        return { environment };
      },
      cause: async (running) => {
        disk!.fill();
        for (let at = 0; at < 9; at++)
          await addPod(running, {
            name: `p${at}`,
            containerId: `${at}`.repeat(64),
            netns: `/run/netns/p${at}`,
          });
      },
      end: async () => {
        await local!.close();
        disk!.close();
      },
    }),
    'the mirror of etcd cannot be opened': onOneNode({
      prepare: (node) => ({
        environment: {
          ...node,
          connectVpp: node.vpp.connect(),
          mirrorFault: 'mirror.level: EROFS: read-only file system',
        },
      }),
    }),
    'the certificate of an agent is of another authority': onOneNode({
      skip: withoutOpenssl(),
      netctl: { isHttps: true },
      prepare: () => {
        makeCertificate(folder, 'ca', 'ca');
        makeCertificate(folder, 'server', 'ca', { names: 'DNS:localhost,IP:127.0.0.1' });
        const [cert, key] = ['crt', 'key'].map((one) => join(folder, `server.${one}`));
        return { http: { 'server-cert-file': cert!, 'server-key-file': key! } };
      },
      end: () => rmSync(folder, { recursive: true, force: true }),
    }),
    'credentials are missing': onOneNode({
      options: { http: { 'client-basic-auth': ['operator:secret'] } },
    }),
    'the clock of a node is wrong': onOneNode({
      netctl: { clock: { ...systemClock, wallTime: () => systemClock.wallTime() - 3 * 3_600_000 } },
    }),
    'the CNI configuration is missing': onOneNode({
      options: {
        env: {
          CNI_CONFIG_SOURCE: join(folder, 'none.conflist'),
          CNI_CONFIG_TARGET: join(folder, 'net.conflist'),
        },
      },
    }),
    'the NodeConfig of a node is missing': onOneNode({
      options: { contiv: { crdNodeConfigurationDisabled: false }, waits: true },
    }),
    'no lease for the address of a node': onOneNode({
      options: { contiv: { nodeConfig: [section({ useDhcp: true })] } },
    }),
    'VPP was changed by hand': onOneNode({
      cause: async (running) => {
        await attach(running, web);
        const nodes = [{ name: 'node1', socket: running.localSocket }];
        const command = ['set', 'interface', 'state', 'tap1', 'down'];
        await netctlIn('vppcli', { nodes }).run({ arguments: { node: ['node1'], command } });
      },
    }),
    'services at sockets cannot be loaded': onOneNode({
      prepare: (node) => ({
        environment: {
          ...node,
          connectVpp: node.vpp.connect(),
          socketFault: 'no cgroup v2 at /sys/fs/cgroup',
        },
      }),
      options: { service: { socketServices: '/sys/fs' } },
    }),
    'an annotation of bandwidth that is no quantity': onOneNode({
      cause: async (running) => {
        const { model } = resources.pod;
        const annotations = { [bandwidthAnnotations.egress]: '10 Mbit' };
        const value = model.canonical({ name: web.name, namespace: 'default', annotations });
        await running.node.cluster.put(
          REFLECTOR_PREFIX + resources.pod.key(web.name, 'default'),
          JSON.stringify(model.toJson(value)),
        );
        await addPod(running, web);
      },
    }),
    'a setting without effect': onOneNode({ options: { contiv: { useSRv6ForServices: true } } }),
  };
}
