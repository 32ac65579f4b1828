/**
 * Random clusters of two nodes: what packet traces through the rendered ACLs show is what Kubernetes says; and
 * while a change is being configured, nothing opens or closes on which the states before and after agree.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Policy, PolicyPort } from '#kubernetes/models/policy.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { Acl } from '#models/vpp/acl.ts';
import { aclsOfValues } from '#packet-trace/acl-values.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import {
  isReached,
  type NetworkEnd,
  type NetworkPod,
  type NetworkPort,
  PolicyNetwork,
} from './policy-network.ts';
import { type Cluster, kubeState } from './policy-objects.ts';
import {
  afterChange,
  applyChange,
  probedAddresses,
  probedPorts,
  protocols,
  someChange,
  someCluster,
  withDetached,
} from './random-objects.ts';
import { isPermitted } from './reference.ts';
import { applyTo, type Operation, RenderedNode } from './rendered-node.ts';

const FILE = 'test/plugins/policy/traced-policies.test.ts';
const CLUSTERS = 200;
/** Of each pair, in rotation. */
const PROBES = 16;
const MIN_VERDICTS = 100_000;
const SEQUENCES = 60;

/** A cluster, and the attachments of each node. */
interface Nodes {
  readonly cluster: Cluster;
  readonly attachments: ReadonlyMap<string, Cluster['attachments']>;
}

/** The attachments of node2 are those of another random cluster, moved to the addresses of node2. */
const someNodes: fc.Arbitrary<Nodes> = fc
  .tuple(someCluster, someCluster)
  .map(([cluster, { attachments }]) => ({
    cluster,
    attachments: new Map([
      ['node1', cluster.attachments],
      ['node2', new Map([...attachments].map(([id, pod]) => [`far-${id}`, moved(pod)]))],
    ]),
  }));

/** Other machines have no addresses of the pod subnets. */
const outsideAddresses = probedAddresses.filter((address) => !/^(10\.1|fd00)/.test(address));

function moved(pod: AttachedPod): AttachedPod {
  const addresses = pod.addresses.map((one) => one.replace(/^10\.1\.1\.|^fd00:1:/, otherSubnet));
  return { ...pod, addresses };
}

function otherSubnet(subnet: string): string {
  return subnet.replace('1.1.', '1.2.').replace(':1:', ':2:');
}

const probes: readonly NetworkPort[] = [
  ...protocols.flatMap((protocol) => probedPorts.map((port) => ({ protocol, port }))),
  { protocol: 'ICMP', port: 0 },
];

interface PlacedEnd extends NetworkEnd {
  /** Node and name of its pod; undefined: outside. */
  readonly pod: string | undefined;
}

class RenderedCluster {
  readonly network: PolicyNetwork;
  readonly nodes = new Map<string, RenderedNode>();
  readonly ends: readonly PlacedEnd[];

  static async of({ cluster, attachments }: Nodes): Promise<RenderedCluster> {
    const made = new RenderedCluster(attachments);
    for (const [name, own] of attachments)
      made.nodes.set(
        name,
        await RenderedNode.read(
          made.network.policyNode(name),
          kubeState(cluster),
          own,
          cluster.ownAddresses,
        ),
      );
    return made;
  }

  private constructor(attachments: Nodes['attachments']) {
    const pods = [...attachments].flatMap(([node, all]) =>
      [...all].map(([id, { addresses }]): NetworkPod => ({ id, addresses, node })),
    );
    this.network = new PolicyNetwork([...attachments.keys()], pods, outsideAddresses);
    this.ends = [
      ...[...attachments].flatMap(([node, all]) =>
        [...all].flatMap(([id, { addresses, pod }]) =>
          addresses.map((address) => ({ device: id, address, pod: `${node} ${pod}` })),
        ),
      ),
      ...outsideAddresses.map((address) => ({ device: 'outside', address, pod: undefined })),
    ];
  }

  snapshot(): Snapshot {
    return this.network.withAcls(
      new Map([...this.nodes].map(([name, node]) => [name, node.acls()])),
    );
  }

  /** Different pods, or a pod and the outside; of one family. */
  pairs(): (readonly [PlacedEnd, PlacedEnd])[] {
    return this.ends.flatMap((from) =>
      this.ends.flatMap((to) => {
        const isPair =
          from.pod !== to.pod && from.address.includes(':') === to.address.includes(':');
        return isPair ? [[from, to] as const] : [];
      }),
    );
  }
}

/**
 * VPP compares no ports of SCTP, so that a rule with some of them permits nothing: as if its ports were
 * invalid.
 */
function withoutSctpPorts(policy: Policy): Policy {
  const comparable = (one: PolicyPort): PolicyPort =>
    one.protocol === 'SCTP' && (one.port !== undefined || one.end_port !== 0)
      ? { ...one, port: { type: 'NUMBER', number: 0, name: '' }, end_port: 0 }
      : one;
  return {
    ...policy,
    ingress_rule: policy.ingress_rule.map((rule) => ({
      ...rule,
      port: rule.port.map(comparable),
    })),
    egress_rule: policy.egress_rule.map((rule) => ({ ...rule, port: rule.port.map(comparable) })),
  };
}

/** A policy of the cluster that denies or passes some ports of SCTP may deny all of them. */
function isStricter({ cluster: { clusterPolicies } }: Nodes, { protocol }: NetworkPort): boolean {
  return protocol === 'SCTP' && clusterPolicies.length > 0;
}

/** The verdict of each node about its own pods. */
function expected(
  { cluster, attachments }: Nodes,
  from: NetworkEnd,
  to: NetworkEnd,
  { protocol, port }: NetworkPort,
): boolean {
  // only rules without ports permit a protocol that no port can name
  const target = { address: to.address, protocol: protocol as 'TCP', port };
  return [...attachments.values()].every((own) =>
    isPermitted({ ...cluster, attachments: own }, from.address, target),
  );
}

describe('packets between pods of two nodes', () => {
  it('pass the rendered ACLs exactly if the policies of Kubernetes permit them', async (t) => {
    const name = 'pass the rendered ACLs exactly if the policies of Kubernetes permit them';
    let verdicts = 0;
    let permitted = 0;
    await checkProperty(
      { file: FILE, name },
      CLUSTERS,
      fc.asyncProperty(someNodes, fc.nat(probes.length - 1), async (nodes, start) => {
        const rendered = await RenderedCluster.of(nodes);
        const policies = nodes.cluster.policies.map(withoutSctpPorts);
        const comparable = { ...nodes, cluster: { ...nodes.cluster, policies } };
        const snapshot = rendered.snapshot();
        let next = start;
        for (const [from, to] of rendered.pairs()) {
          for (let more = 0; more < PROBES; more++) {
            const probe = probes[next++ % probes.length]!;
            const isFound = isReached(snapshot, from, to, probe);
            verdicts++;
            permitted += isFound ? 1 : 0;
            if (isStricter(nodes, probe) && !isFound) continue;
            if (isFound !== expected(comparable, from, to, probe))
              assert.fail(
                `${from.device} (${from.address}) to ${to.device} (${to.address}), ` +
                  `${probe.protocol} ${probe.port}: ${isFound ? 'reached' : 'denied'}`,
              );
          }
        }
      }),
    );
    t.diagnostic(`${verdicts} verdicts, ${permitted} of them permitted`);
    assert.ok(verdicts >= MIN_VERDICTS || process.env['CV_PATH'] !== undefined, `${verdicts}`);
  });
});

describe('a change of policies that is being configured', () => {
  it('opens and closes nothing on which the states before and after agree', async (t) => {
    const name = 'opens and closes nothing on which the states before and after agree';
    let steps = 0;
    let constant = 0;
    await checkProperty(
      { file: FILE, name },
      SEQUENCES,
      fc.asyncProperty(
        someCluster,
        fc.array(someChange, { minLength: 1, maxLength: 8 }),
        async (first, changes) => {
          const network = networkOf(first);
          const node = await RenderedNode.read(
            network.policyNode('node1'),
            kubeState(first),
            first.attachments,
            first.ownAddresses,
          );
          const values = new Map(node.values());
          let cluster = first;
          for (const change of changes.flatMap((one) => withDetached(cluster, one))) {
            const before = cluster;
            cluster = afterChange(cluster, change);
            const operations = await node.render(await applyChange(node.processor, change));
            const kept = stayingPods(before, cluster);
            const initial = verdicts(kept, values);
            const states = inSteps(operations.toSorted(asExecuted), values).map((step) => {
              for (const operation of step) applyTo(values, operation);
              return verdicts(kept, values);
            });
            assert.deepEqual(new Map([...values].sort()), node.values());
            const final = states.at(-1) ?? initial;
            for (const [step, state] of states.slice(0, -1).entries()) {
              steps++;
              for (const [question, isFound] of state) {
                if (initial.get(question) !== final.get(question)) continue;
                constant++;
                assert.equal(isFound, final.get(question), `${question} after step ${step}`);
              }
            }
          }
        },
      ),
    );
    t.diagnostic(`${steps} steps, ${constant} verdicts that had to stay`);
  });
});

/** The scheduler executes the operations of a transaction in the order of keys, deletions first. */
function asExecuted([a, before]: Operation, [b, after]: Operation): number {
  const rank = (value: Value | undefined): number => (value === undefined ? 0 : 1);
  return rank(before) - rank(after) || (a < b ? -1 : 1);
}

/** ACLs that an interface gets in one transaction are bound by one message. */
function inSteps(
  operations: readonly Operation[],
  existing: ReadonlyMap<string, Value>,
): readonly (readonly Operation[])[] {
  const steps = new Map<string, Operation[]>();
  for (const operation of operations) {
    const [key, value] = operation;
    const isNew = value !== undefined && !existing.has(key);
    const step = isNew ? `new at ${interfacesOf(value)}` : key;
    steps.set(step, [...(steps.get(step) ?? []), operation]);
  }
  return [...steps.values()];
}

function interfacesOf(value: Value): string {
  const { interfaces } = value as Acl;
  return [...(interfaces?.ingress ?? []), ...(interfaces?.egress ?? [])].join();
}

function networkOf({ attachments }: Cluster): PolicyNetwork {
  const pods = Array.from(attachments, ([id, { addresses }]) => ({ id, addresses, node: 'node1' }));
  return new PolicyNetwork(['node1'], pods, outsideAddresses);
}

/** The attachments that a change leaves as they were. */
function stayingPods(before: Cluster, after: Cluster): Cluster {
  const attachments = new Map(
    [...after.attachments].filter(([id, pod]) => before.attachments.get(id) === pod),
  );
  return { ...after, attachments };
}

/** By a text that names pair and port; of this node alone. */
function verdicts(
  cluster: Cluster,
  values: ReadonlyMap<string, Value>,
): ReadonlyMap<string, boolean> {
  const snapshot = networkOf(cluster).withAcls(new Map([['node1', aclsOfValues(values)]]));
  const found = new Map<string, boolean>();
  const pods = [...cluster.attachments].flatMap(([id, { addresses }]) =>
    addresses.map((address) => ({ device: id, address })),
  );
  const outside = outsideAddresses.map((address) => ({ device: 'outside', address }));
  for (const from of [...pods, ...outside]) {
    for (const to of [...pods, ...outside]) {
      const isPair =
        from.device !== to.device && from.address.includes(':') === to.address.includes(':');
      if (!isPair) continue;
      for (const port of [80, 8090]) {
        const question = `${from.device} ${from.address} to ${to.device} ${to.address}:${port}`;
        found.set(question, isReached(snapshot, from, to, { protocol: 'TCP', port }));
      }
    }
  }
  return found;
}
