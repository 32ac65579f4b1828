/** How connections are distributed over backends, and session affinity. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { answered, assertBackends, countByBackend } from './answers.ts';
import { a, b, both, c, type ServiceInput, serviceRecords, x, y, z } from './records.ts';
import { chiSquare, chiSquareBound, hitTolerance } from './statistics.ts';

const pods = { node1: ['a', 'b', 'c'], node2: ['x', 'y', 'z'] } as const;
const ports = [{ port: 80, target: 8080, nodePort: 0 }];

const LOCAL_WEIGHT = 3;

export function distributionSuite(start: StartServiceCluster): void {
  describe('distribution', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start({ service: { serviceLocalEndpointWeight: LOCAL_WEIGHT } });
      for (const node of ['node1', 'node2'] as const)
        for (const pod of pods[node]) await cluster.startPod(pod, node, [8080]);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));

    for (const count of [2, 3])
      for (const protocol of both)
        it(`${count} backends get equal shares, ${protocol}`, async () => {
          const address = `10.96.2.${count}`;
          const backends = [x, y, z].slice(0, count);
          await apply(`equal-${count}`, { cluster_ip: address, ports, backends });
          const answers = await cluster.connect(a, { address, port: 80, protocol }, 300);
          const counts = countByBackend(answers);
          const numbers = backends.map((one) => counts.get((one as { pod: string }).pod) ?? 0);
          const found = chiSquare(
            numbers,
            numbers.map(() => 1),
          );
          assert.ok(found < chiSquareBound(count - 1), `${numbers}: chi-square ${found}`);
        });

    it('a node port distributes, although sources are replaced', async () => {
      await apply('np', {
        service_type: 'NodePort',
        cluster_ip: '10.96.2.10',
        ports: [{ port: 80, target: 8080, nodePort: 30090 }],
        backends: [x, y],
      });
      const target = {
        address: cluster.vppAddressOf('node1'),
        port: 30090,
        protocol: 'TCP',
      } as const;
      const counts = countByBackend(await cluster.connect('outside', target, 300));
      const numbers = ['x', 'y'].map((pod) => counts.get(pod) ?? 0);
      const found = chiSquare(numbers, [1, 1]);
      assert.ok(found < chiSquareBound(1), `${numbers}: chi-square ${found}`);
    });

    it('a backend of the own node gets the configured weight', async () => {
      const [address, attempts] = ['10.96.2.11', 400];
      await apply('weighted', { cluster_ip: address, ports, backends: [b, x] });
      const target = { address, port: 80, protocol: 'TCP' } as const;
      for (const [from, near] of [
        [a, 'b'],
        [y, 'x'],
      ] as const) {
        const counts = countByBackend(await cluster.connect(from, target, attempts));
        const share = LOCAL_WEIGHT / (LOCAL_WEIGHT + 1);
        const difference = Math.abs((counts.get(near) ?? 0) - attempts * share);
        assert.ok(
          difference < hitTolerance(attempts, share),
          `${near}: ${counts.get(near)} of ${attempts}`,
        );
      }
    });

    it('affinity keeps each client at its backend, for TCP and UDP', async () => {
      const address = '10.96.2.12';
      const affinity = { session_affinity: 'ClientIP', session_affinity_timeout: 10_800 } as const;
      await apply('sticky', { cluster_ip: address, ...affinity, ports, backends: [b, c, x, y, z] });
      for (const protocol of both)
        for (const from of [a, b, x]) {
          const answers = answered(
            await cluster.connect(from, { address, port: 80, protocol }, 40),
          );
          assert.equal(new Set(answers.map(({ backend }) => backend)).size, 1);
        }
    });

    it('affinity with a single backend, and with more when they come', async () => {
      const address = '10.96.2.13';
      const affinity = { session_affinity: 'ClientIP', session_affinity_timeout: 10_800 } as const;
      const input = { cluster_ip: address, ...affinity, ports };
      const target = { address, port: 80, protocol: 'TCP' } as const;
      await apply('sticky-one', { ...input, backends: [x] });
      assertBackends(await cluster.connect(a, target, 10), ['x']);
      await apply('sticky-one', { ...input, backends: [x, y, z] });
      assertBackends(await cluster.connect(a, target, 40), ['x']);
    });

    it('a client leaves its backend when this one goes', async () => {
      const address = '10.96.2.14';
      const affinity = { session_affinity: 'ClientIP', session_affinity_timeout: 10_800 } as const;
      const input = { cluster_ip: address, ...affinity, ports };
      const target = { address, port: 80, protocol: 'TCP' } as const;
      const backends = [b, x, y];
      await apply('sticky-going', { ...input, backends });
      const [earlier] = answered(await cluster.connect(a, target));
      const first = earlier!.backend;
      const others = backends.filter((one) => (one as { pod: string }).pod !== first);
      await apply('sticky-going', { ...input, backends: others });
      const later = answered(await cluster.connect(a, target, 20)).map(({ backend }) => backend);
      assert.ok(!later.includes(first), `${first} is deleted`);
      assert.equal(new Set(later).size, 1);
    });
  });
}
