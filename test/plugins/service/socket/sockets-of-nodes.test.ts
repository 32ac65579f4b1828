/**
 * Two nodes of one family, or of both, whose services, endpoints, pods and membership change at random. At every step the sockets of each node
 * reach at each address, port and protocol exactly the backends that Kubernetes says, and no other address is translated.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unspecifiedOf } from '#models/ip.ts';
import { checkProperty } from '../../../support/random-cases.ts';
import { ipv4, ipv4First, ipv6, ipv6First } from '../address-plan.ts';
import { answers, isInRanges } from '../reference.ts';
import { type NodeName, someFirstSteps, someStep, TracedCluster } from '../traced-cluster.ts';

const TITLE = 'sockets reach at every address the backends that Kubernetes says';

interface Reached {
  readonly backends: readonly string[];
  readonly affinity: number;
}

test(TITLE, async () => {
  await checkProperty(
    { file: 'test/plugins/service/socket/sockets-of-nodes.test.ts', name: TITLE },
    60,
    fc.asyncProperty(
      someFirstSteps,
      fc.array(someStep, { minLength: 2, maxLength: 10 }),
      fc.constantFrom(ipv4, ipv6, ipv4First, ipv6First),
      async (first, others, plan) => {
        const cluster = await TracedCluster.start(true, false, plan);
        for (const step of [...first, ...others]) {
          await cluster.step(step);
          for (const node of new Set(cluster.clients().map((client) => client.node)))
            assert.deepEqual(reached(cluster, node), expected(cluster, node), node);
        }
      },
    ),
  );
});

/** By `TCP 10.96.0.1 80`. */
function reached(cluster: TracedCluster, node: NodeName): Map<string, Reached> {
  const found: [string, Reached][] = [];
  const nodes = cluster.nodeAddresses(node);
  for (const { mappings } of cluster.sockets(node))
    for (const { frontends, backends, affinity_timeout: affinity } of mappings)
      for (const { address, port, protocol, scope } of frontends) {
        const ofNodes = nodes.filter(
          (one) =>
            one.is_local === (scope === 'THIS_NODE') && unspecifiedOf(one.address) === address,
        );
        const addresses = scope === 'ADDRESS' ? [address] : ofNodes.map((one) => one.address);
        for (const one of addresses)
          found.push([
            `${protocol} ${one} ${port}`,
            { backends: backends.map((to) => `${to.address}:${to.port}`).sort(), affinity },
          ]);
      }
  assert.equal(new Map(found).size, found.length, 'each address once');
  return sorted(found);
}

function expected(cluster: TracedCluster, node: NodeName): Map<string, Reached> {
  const world = cluster.world(node);
  const entries = [...answers(world, 'socket')].map(([key, answer]) => {
    const { backends, affinity } = answer;
    const isServed = isInRanges(answer, { address: '', isSocket: true }, world);
    return [key, { backends: isServed ? backends : [], affinity }] as const;
  });
  return sorted(entries);
}

function sorted(entries: readonly (readonly [string, Reached])[]): Map<string, Reached> {
  return new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
