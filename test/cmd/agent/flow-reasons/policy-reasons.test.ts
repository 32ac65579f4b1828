/** Each random denial names what the reference finds. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { PolicyReasons } from '#cmd/agent/flow-reasons/policy-reasons.ts';
import { type Flow, type FlowEnd, flowProtocols } from '#documents/flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import type { PolicyDirection } from '#plugins/policy/pod-policy.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';
import { deciderOfTier } from '../../../plugins/policy/cluster-reference.ts';
import { type Cluster, kubeState, pod } from '../../../plugins/policy/policy-objects.ts';
import { probedPorts, someCluster } from '../../../plugins/policy/random-objects.ts';
import { isolatingPolicies, isPermitted, permits } from '../../../plugins/policy/reference.ts';

const DENIALS = 1_000;
const names = ['red/a', 'red/b', 'red/c', 'blue/a', 'blue/b', 'blue/c'] as const;
const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('web', 'db'));

/** The policies of a random cluster, on pods that have one address each. */
const given = fc
  .tuple(someCluster, fc.array(labels, { minLength: names.length, maxLength: names.length }))
  .map(([cluster, all]): Cluster => {
    const addresses = names.map((_, at) => `10.1.1.${at + 2}`);
    return {
      ...cluster,
      pods: names.map((name, at) => {
        const [namespace = '', own = ''] = name.split('/');
        return pod({
          name: own,
          namespace,
          labels: all[at]!,
          ips: [addresses[at]!],
          ports: ['http TCP 80'],
        });
      }),
      attachments: new Map(
        names.map((name, at) => [
          name,
          { pod: name, podUid: undefined, addresses: [addresses[at]!] },
        ]),
      ),
    };
  });

type SeenTarget = Pick<Flow, 'protocol'> & { readonly port: number };
const probed = flowProtocols.flatMap((protocol) =>
  probedPorts.map((port): SeenTarget => ({ protocol, port })),
);

function flow(client: AttachedPod, server: AttachedPod, { protocol, port }: SeenTarget): Flow {
  const end = ({ pod: name, addresses }: AttachedPod, at: number): FlowEnd => ({
    address: addresses[0]!,
    port: at,
    kind: 'pod',
    name,
    workload: name,
  });
  return {
    id: '1',
    node: 'node1',
    side: 'client',
    time: '',
    protocol,
    verdict: 'no-answer',
    reason: '',
    client: end(client, 40_000),
    server: end(server, port),
    clientBytes: 0,
    serverBytes: 0,
    rttUs: 0,
    retransmissions: 0,
    stalledMs: 0,
  };
}

/** Policies that deny one direction; text that the reason must have. */
function denier(
  cluster: Cluster,
  direction: PolicyDirection,
  own: AttachedPod,
  other: string,
  target: SeenTarget,
) {
  if (permits(cluster, direction, own, other, target)) return undefined;
  const ofTier = (tier: 'ADMIN' | 'BASELINE') =>
    deciderOfTier(cluster, tier, direction, own, other, target);
  const admin = ofTier('ADMIN');
  const isolating = admin ? [] : isolatingPolicies(cluster, direction, own);
  if (isolating.length > 0)
    return isolating.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const { policy, rule } = (admin ?? ofTier('BASELINE'))!;
  return rule === undefined
    ? [policy]
    : `${direction} of ${own.pod} is denied by ${admin ? 'Admin' : 'Baseline'} policy ${policy}, spec.${direction}[${rule}]`;
}

it(`${DENIALS} random denials name the policies that the reference finds, and nothing that is permitted is denied`, async () => {
  let denials = 0;
  let ofTiers = 0;
  while (denials < DENIALS)
    await fc.assert(
      fc.asyncProperty(given, async (cluster) => {
        const reasons = new PolicyReasons({
          policies: {
            ownAddresses: () => cluster.ownAddresses,
            attachedPods: () =>
              new Map(
                [...cluster.attachments].map(([id, one]) => [id, { pod: one, interface: id }]),
              ),
          },
          kubeState: () => kubeState(cluster),
          eventCount: () => 0,
          clock: new ManualClock(),
        });
        for (const client of cluster.attachments.values())
          for (const server of cluster.attachments.values()) {
            const [from, to] = [client.addresses[0]!, server.addresses[0]!];
            for (const seen of probed) {
              const found = await reasons.find(flow(client, server, seen));
              if (isPermitted(cluster, from, { address: to, ...seen })) {
                assert.equal(found, undefined);
                continue;
              }
              denials++;
              assert.equal(
                found?.verdict,
                'denied',
                `${client.pod} ${server.pod} ${seen.protocol} ${seen.port}`,
              );
              const expected = [
                ['egress', client, denier(cluster, 'egress', client, to, seen)],
                ['ingress', server, denier(cluster, 'ingress', server, from, seen)],
              ] as const;
              const parts = found.reason.split('; ');
              assert.equal(parts.length, expected.filter(([, , denied]) => denied).length);
              for (const [direction, own, denied] of expected) {
                if (typeof denied === 'string') {
                  ofTiers++;
                  assert.ok(
                    parts.some((part) => part.startsWith(denied)),
                    `${denied}: ${found.reason}`,
                  );
                } else if (denied) {
                  const head = `${own.pod} is isolated for ${direction} by `;
                  const part = parts.find((one) => one.startsWith(head)) ?? '';
                  const named = part.slice(head.length, part.indexOf(': ')).split(', ').sort();
                  assert.deepEqual(named, denied, found.reason);
                }
              }
            }
          }
      }),
      { numRuns: 5 },
    );
  assert.ok(ofTiers > 0);
});
