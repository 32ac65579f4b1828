import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterNetworkPolicyPeer } from '#kubernetes/models/cluster-network-policy.ts';
import type { DeepInput } from '#models/model.ts';
import { clusterPolicySpec } from '#plugins/policy/configurator/cluster-policy-spec.ts';
import { clusterPolicy } from '../policy-objects.ts';

const withoutPeers: readonly [string, readonly DeepInput<ClusterNetworkPolicyPeer>[], string][] = [
  ['no peers', [], 'it has no peers'],
  ['an empty list of networks', [{ networks: { cidr: [] } }], 'peer 0: it has no networks'],
];

for (const [name, peer, problem] of withoutPeers)
  test(`rules of a record with ${name} fail closed`, () => {
    const { egress, problems } = clusterPolicySpec(
      'admin',
      clusterPolicy({
        egress: [
          { action: 'ACCEPT', peer },
          { action: 'DENY', peer },
          { action: 'PASS', peer },
        ],
      }),
    );
    assert.deepEqual(
      egress.map(({ index, action, peers, ports }) => [
        index,
        action,
        peers.isEveryone,
        ports.numbers.text,
      ]),
      [
        [1, 'Deny', true, 'any'],
        [2, 'Deny', true, 'any'],
      ],
    );
    assert.deepEqual(problems, [
      `egress rule 0 accepts nothing: ${problem}`,
      `egress rule 1 denies all: ${problem}`,
      `egress rule 2 denies all: ${problem}`,
    ]);
  });
