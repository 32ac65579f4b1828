/**
 * Random clusters and random changes. What the processor computes permits what Kubernetes says; after
 * each change it equals that of a resync, and only what has changed is reported.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressNumber } from '#plugins/policy/address-set.ts';
import { type PodPolicy, permittedPorts } from '#plugins/policy/pod-policy.ts';
import type { PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import { checkProperty } from '../../../support/random-cases.ts';
import { type Cluster, plainPolicies, processed } from '../policy-objects.ts';
import {
  afterChange,
  applyChange,
  probedAddresses,
  probedPorts,
  protocols,
  someChange,
  someCluster,
  withDetached,
} from '../random-objects.ts';
import { permits } from '../reference.ts';

const FILE = 'test/plugins/policy/processor/processor-properties.test.ts';

const directions = ['ingress', 'egress'] as const;

/** @returns the number of verdicts */
function assertVerdicts(
  cluster: Cluster,
  processor: PolicyProcessor,
  ports: readonly number[],
): number {
  let count = 0;
  assert.deepEqual([...processor.policies().keys()].sort(), [...cluster.attachments.keys()].sort());
  for (const [id, own] of cluster.attachments) {
    const policy = processor.policies().get(id) as PodPolicy;
    assert.equal(policy.pod, own.pod);
    assert.deepEqual(policy.addresses, own.addresses.map(addressNumber));
    for (const direction of directions) {
      for (const address of probedAddresses) {
        const found = permittedPorts(policy[direction], addressNumber(address)!);
        for (const protocol of protocols) {
          for (const port of ports) {
            count++;
            const expected = permits(cluster, direction, own, address, { protocol, port });
            if (found.has(protocol, port) !== expected)
              assert.fail(
                `${id} (${own.pod}) ${direction} ${address} ${protocol} ${port}: ${found.text}, ` +
                  `but it is ${expected ? '' : 'not '}permitted`,
              );
          }
        }
      }
    }
  }
  return count;
}

let verdicts = 0;

const VERDICTS = 'a pod is permitted what Kubernetes says, for every peer, protocol and port';
test(VERDICTS, async () => {
  await checkProperty(
    { file: FILE, name: VERDICTS },
    120,
    fc.asyncProperty(someCluster, async (cluster) => {
      verdicts += assertVerdicts(cluster, await processed(cluster), probedPorts);
    }),
  );
});

test('a hundred thousand verdicts were compared', (t) => {
  t.diagnostic(`${verdicts} verdicts`);
  assert.ok(verdicts >= 100_000 || process.env['CV_PATH'] !== undefined);
});

const CHANGES =
  'after every change the state equals that of a resync, and only changes are reported';
test(CHANGES, async () => {
  await checkProperty(
    { file: FILE, name: CHANGES },
    200,
    fc.asyncProperty(
      someCluster,
      fc.array(someChange, { minLength: 1, maxLength: 20 }),
      async (start, changes) => {
        let cluster = start;
        const processor = await processed(cluster);
        for (const change of changes) {
          for (const step of withDetached(cluster, change)) {
            const before = new Map(processor.policies());
            const reported = await applyChange(processor, step);
            cluster = afterChange(cluster, step);
            const after = processor.policies();
            assertReported(before, after, reported.pods);
            const fresh = await processed(cluster);
            assert.deepEqual(plainPolicies(after), plainPolicies(fresh.policies()));
            assert.deepEqual(sorted(processor.problems()), sorted(fresh.problems()));
          }
        }
        assertVerdicts(cluster, processor, [80, 8080]);
      },
    ),
  );
});

/** Directions that did not change are the same objects; pods that did not change are not reported. */
function assertReported(
  before: ReadonlyMap<string, PodPolicy>,
  after: ReadonlyMap<string, PodPolicy>,
  reported: ReadonlyMap<string, PodPolicy | undefined>,
): void {
  for (const id of new Set([...before.keys(), ...after.keys(), ...reported.keys()])) {
    const [was, is] = [before.get(id), after.get(id)];
    assert.equal(reported.has(id) ? reported.get(id) : was, is, `report of ${id}`);
    if (was === undefined || is === undefined) continue;
    if (was !== is) assert.notDeepEqual(plainOf(was), plainOf(is), `${id} has not changed`);
    for (const direction of directions) {
      if (was[direction] === is[direction]) continue;
      const plain = [was, is].map((one) => plainOf({ ...one, [direction]: one[direction] }));
      assert.notDeepEqual(plain[0], plain[1], `${direction} of ${id} is another object`);
    }
  }
}

function plainOf(policy: PodPolicy): object {
  return plainPolicies(new Map([['', policy]]));
}

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));
