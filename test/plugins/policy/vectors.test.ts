/** Connectivity of real manifests, traced through the rendered ACLs of two nodes. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readManifestCluster } from '#cmd/agent/manifest-cluster.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { formatAddress } from '#plugins/policy/address-set.ts';
import { clusterPolicies } from '#plugins/policy/connectivity/cluster-policies.ts';
import { connectionLine } from '#plugins/policy/connectivity/connectivity-text.ts';
import { type Endpoint, endpointsOf, isOutside } from '#plugins/policy/connectivity/endpoints.ts';
import { PortSet } from '#plugins/policy/port-set.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';
import { isReached, type NetworkEnd, type NetworkPod, PolicyNetwork } from './policy-network.ts';
import { allProtocols, type PortClass, portClasses } from './port-classes.ts';
import { RenderedNode } from './rendered-node.ts';

const folder = new URL('../../../../shared/vectors/netpol', import.meta.url).pathname;
const nodes = ['node1', 'node2'];

interface Connectivity {
  /** Sorted. */
  readonly lines: readonly string[];
  readonly limits: ReadonlyMap<string, readonly string[]>;
}

async function tracedConnectivity(manifests: string): Promise<Connectivity> {
  const { kube, pods } = readManifestCluster(manifests);
  const state = await clusterPolicies(kube, pods, slices());
  const endpoints = await endpointsOf([state], slices());
  // neighbors in the list are on different nodes
  const placed = [...pods].map(
    ([id, { addresses }], at): NetworkPod => ({ id, addresses, node: nodes[at % 2]! }),
  );
  const outside = [...endpoints.sources, ...endpoints.destinations].flatMap((endpoint) =>
    isOutside(endpoint) ? [formatAddress(endpoint.address)] : [],
  );
  const network = new PolicyNetwork(nodes, placed, outside);
  const limits = new Map<string, readonly string[]>();
  const rendered = await Promise.all(
    nodes.map(async (name) => {
      const local = placed.filter((pod) => pod.node === name);
      const attachments = new Map(
        local.map((pod): [string, AttachedPod] => [
          pod.id,
          { pod: pod.id, podUid: pods.get(pod.id)?.uid, addresses: pod.addresses },
        ]),
      );
      const node = await RenderedNode.read(network.policyNode(name), kube, attachments);
      for (const [policy, reasons] of node.limits()) limits.set(policy, reasons);
      return [name, node.acls()] as const;
    }),
  );
  const snapshot = network.withAcls(new Map(rendered));
  const classes = portClasses([...state.pods.values()].map(({ policy }) => policy));
  const ends = new Map(placed.map((pod) => [pod.id, pod]));
  const lines: string[] = [];
  let pairs = 0;
  for (const from of endpoints.sources) {
    for (const to of endpoints.destinations) {
      if (from === to || (isOutside(from) && isOutside(to))) continue;
      const [source, destination] = [endOf(from, ends), endOf(to, ends)];
      // a vector has thousands of ranges outside: where all protocols pass, the ports of one class are traced
      const sample = classes[pairs++ % classes.length]!;
      const isSampled = isOutside(from) || isOutside(to);
      const isAny =
        isSampled &&
        isReached(snapshot, source, destination, allProtocols) &&
        isReached(snapshot, source, destination, { ...sample, port: sample.first });
      const ports = isAny ? PortSet.any : tracedPorts(snapshot, source, destination, classes);
      if (!ports.isEmpty) lines.push(connectionLine({ from, to, ports }) ?? '');
    }
  }
  return { lines: lines.sort(), limits };
}

function endOf(endpoint: Endpoint, pods: ReadonlyMap<string, NetworkPod>): NetworkEnd {
  if (isOutside(endpoint)) return { device: 'outside', address: formatAddress(endpoint.address) };
  const pod = pods.get(endpoint.pods[0]!)!;
  return { device: pod.id, address: pod.addresses[0]! };
}

function tracedPorts(
  snapshot: Snapshot,
  from: NetworkEnd,
  to: NetworkEnd,
  classes: readonly PortClass[],
): PortSet {
  const permitted = classes.filter(({ protocol, first }) =>
    isReached(snapshot, from, to, { protocol, port: first }),
  );
  const isAny = permitted.length === classes.length && isReached(snapshot, from, to, allProtocols);
  return isAny ? PortSet.any : PortSet.of(permitted);
}

function slices(): Slices {
  return new Slices(new ManualClock());
}

/** VPP compares no ports of SCTP, so what permits some of them permits none. */
function withoutSctpPorts(line: string): string | undefined {
  const left = line.replace(/SCTP [\d,-]*\d,?/, '').replace(/,$/, '');
  return left.endsWith(' : ') ? undefined : left;
}

describe('the connectivity of manifests, traced through rendered ACLs', () => {
  if (!existsSync(folder)) {
    it('equals the vectors', { skip: `${folder} is missing` }, () => undefined);
    return;
  }
  for (const name of readdirSync(folder).sort()) {
    it(`equals the vector ${name}`, async () => {
      const expected = readFileSync(`${folder}/${name}/expected.txt`, 'utf8').trim().split('\n');
      const { lines, limits } = await tracedConnectivity(`${folder}/${name}/manifests`);
      const possible = expected.flatMap((line) => withoutSctpPorts(line) ?? []);
      assert.deepEqual(lines, possible.sort());
      const isWithSctp = expected.some((line) => line.includes('SCTP'));
      assert.equal(limits.size > 0, isWithSctp, [...limits.values()].flat().join('\n'));
    });
  }
});
