/**
 * Compares packet traces with connections to services on two nodes with a real VPP: the backends that
 * answer, the client that they see, and connections without an answer.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deviceByAddress } from '#packet-trace/cluster.ts';
import { traceMemory } from '#packet-trace/memory.ts';
import { snapshotOfDocuments } from '#test/packet-trace/document-snapshot.ts';
import { outsideDevice } from '#test/packet-trace/outside-device.ts';
import {
  a,
  b,
  both,
  host1,
  host2,
  type ServiceInput,
  serviceRecords,
  x,
} from '#test/services/compliance/records.ts';
import type { Answer, NodeName, Place } from '#test/services/service-cluster.ts';
import { type Network, possibleAnswers, type Station } from '#test/services/simulated/traffic.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const SERVED = 8080;
/** So many connections reach each of three backends, except in one of a billion runs. */
const ENOUGH = 60;

const nodes: readonly NodeName[] = ['node1', 'node2'];
const clients: readonly Place[] = [a, x, host1, 'outside'];
const places: readonly Place[] = [a, b, x, host1, host2, 'outside'];

const ports = [{ port: 80, target: SERVED }];
const services: Readonly<Record<string, ServiceInput>> = {
  spread: { cluster_ip: '10.96.5.1', ports, backends: [a, b, x] },
  single: { cluster_ip: '10.96.5.2', ports, backends: [x] },
  hosts: { cluster_ip: '10.96.5.3', ports, backends: [host1, host2] },
  empty: { cluster_ip: '10.96.5.4', ports, backends: [] },
  open: {
    service_type: 'NodePort',
    cluster_ip: '10.96.5.5',
    ports: [{ port: 80, target: SERVED, nodePort: 30_500 }],
    backends: [b, x],
  },
  near: {
    service_type: 'NodePort',
    external_traffic_policy: 'Local',
    cluster_ip: '10.96.5.6',
    ports: [{ port: 80, target: SERVED, nodePort: 30_501 }],
    backends: [b],
  },
};

const skip = withoutNodes() || withoutVhostNet();

describe('packet trace of services', { skip, timeout: 240_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start();
    for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [SERVED]);
    await cluster.startPod('x', 'node2', [SERVED]);
    for (const at of [host1, host2, 'outside'] as const) await cluster.serve(at, SERVED);
    for (const [name, input] of Object.entries(services))
      await cluster.apply(serviceRecords(cluster, name, input));
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function network(): Promise<Network> {
    const documents = await cluster.documents();
    const routes = nodes.map((node) => {
      const vpp = cluster.vppAddressOf(node);
      return [cluster.natLoopbackOf(node).replace(/\.\d+$/, '.0/24'), vpp] as const;
    });
    const outside = outsideDevice(`${cluster.addressOf('outside')}/24`, routes);
    const snapshot = snapshotOfDocuments(documents, [outside]);
    const stations = places.map((place): Station => {
      const address = cluster.addressOf(place);
      const device = deviceByAddress(snapshot, address)!;
      return { name: nameOf(place), device, address, ports: new Set([SERVED]) };
    });
    return { snapshot, stations, memory: traceMemory() };
  }

  const targets = (): (readonly [address: string, port: number])[] => [
    ...Object.values(services).map((one) => [one.cluster_ip!, 80] as const),
    ...nodes.flatMap((node) =>
      [30_500, 30_501].map((port) => [cluster.vppAddressOf(node), port] as const),
    ),
    [cluster.addressOf(b), SERVED],
    [cluster.addressOf(x), SERVED],
    [cluster.addressOf('outside'), SERVED],
  ];

  for (const from of clients)
    for (const protocol of both)
      it(`says what a client at ${nameOf(from)} sees over ${protocol}`, async () => {
        const seen = await network();
        const station = seen.stations.find(({ name }) => name === nameOf(from))!;
        for (const [address, port] of targets()) {
          if (address === cluster.addressOf(from) || !hasRoute(from, address)) continue;
          const target = { address, port, protocol };
          const expected = distinct(possibleAnswers(seen, station, target));
          const count = expected.length > 1 ? ENOUGH : 1;
          const answers = await cluster.connect(from, target, count);
          assert.deepEqual(distinct(answers), expected, `${address}:${port}`);
        }
      });
});

/** The outside has no route to cluster IPs, and hosts have none to the network of the VPPs. */
function hasRoute(from: Place, address: string): boolean {
  if (from === 'outside') return !address.startsWith('10.96.');
  return 'pod' in from || !address.startsWith('192.168.16.');
}

function nameOf(place: Place): string {
  if (place === 'outside') return place;
  return 'host' in place ? place.host : place.pod;
}

/** Each answer once. A refusal is not distinguished from a timeout. */
function distinct(answers: readonly Answer[]): string[] {
  const texts = answers.map((one) =>
    one.result === 'answered'
      ? `${one.backend}:${one.backendPort} sees ${one.client}`
      : 'no answer',
  );
  return [...new Set(texts)].sort();
}
