/**
 * The agent is killed at random times while pods are added and deleted: no state is lost or stale.
 * VPP_KILLS is the number of kills, VPP_SEED repeats a run, VPP_KEEP=1 keeps the logs in the folder
 * for temporary files.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#infra/clock/manual.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Kubelet } from '../support/kubelet.ts';
import { bothFamilies, networks } from '../support/networks.ts';
import { RealNode } from '../support/node.ts';
import { podsInHistory } from '../support/pods-in-history.ts';
import { ping } from '../support/traffic.ts';

const rounds = Number(process.env['VPP_KILLS'] ?? 10);
const seed = Number(process.env['VPP_SEED'] ?? randomInt(2 ** 31));
const podNames = ['a', 'b', 'c', 'd'];

interface Allocations {
  readonly Pods: readonly { readonly PodID: { readonly Name: string }; readonly MainIP: string }[];
}

async function allocations(node: RealNode): Promise<Map<string, string>> {
  const { Pods } = (await node.agent.get('/contiv/v1/ipam/allocations')).body as Allocations;
  return new Map(Pods.map(({ PodID, MainIP }) => [PodID.Name, MainIP]));
}

const shapes = {
  IPv4: networks[4].ipamConfig,
  'IPv4 and IPv6': bothFamilies(4).ipamConfig,
  'IPv6 and IPv4': bothFamilies(6).ipamConfig,
  IPv6: networks[6].ipamConfig,
};

const kills = (families: string, ipamConfig: Readonly<Record<string, unknown>>) =>
  it(`${rounds} at random times leave unique addresses and no stale state, ${families}`, async (t) => {
    t.diagnostic(`VPP_SEED=${seed} VPP_KILLS=${rounds}`);
    const random = seededRandom(seed);
    await using node = await RealNode.create({ contiv: { ipamConfig } });
    await node.agent.start();
    const empty = await node.configuration();
    const kubelet = new Kubelet(node, seededRandom(seed + 1));
    const lives = podNames.map((pod) => kubelet.keep(pod));
    // A failure of one pod ends the test immediately.
    const failed = Promise.all(lives);
    await using _ = {
      [Symbol.asyncDispose]: async () => {
        kubelet.abort();
        await Promise.allSettled(lives);
      },
    };

    const kill = async () => {
      for (let round = 0; round < rounds; round++) {
        if (random.next() < 0.75) await node.agent.whenServing();
        await sleep(random.next() * 1200);
        node.agent.assertRunning();
        await node.agent.end('SIGKILL');
        node.agent.launch();
      }
      await node.agent.whenServing();
      kubelet.settle();
      await until('all pods are attached', () => kubelet.pods.size === podNames.length);
    };
    await Promise.race([kill(), failed]);
    t.diagnostic(JSON.stringify(kubelet.counts));
    assert.ok(kubelet.counts.added >= podNames.length);
    // the kills are no proof of anything if they never come while the agent is at work
    assert.ok(kubelet.counts.interrupted >= rounds / 10, JSON.stringify(kubelet.counts));

    const pods = [...kubelet.pods.values()];
    const addresses = pods.map(({ address }) => address);
    assert.equal(new Set(addresses).size, podNames.length);
    assert.deepEqual(
      await allocations(node),
      new Map(pods.map((s): [string, string] => [s.pod, s.address])),
    );
    for (const [i, pod] of pods.entries())
      for (const address of pods[(i + 1) % pods.length]!.addresses) await ping(pod, address);

    kubelet.end();
    await failed;
    assert.deepEqual(await allocations(node), new Map());
    assert.deepEqual(await node.configuration(), empty);
    await until(
      'the agent has processed the deleted records',
      async () => podsInHistory(await node.agent.history()).size === 0,
    );
    await node.agent.end('SIGTERM');
    const kept = [...(await node.agent.storedValues('local/')).keys()];
    assert.deepEqual(
      kept.filter((key) => /attachment|address/.test(key)),
      [],
    );
  });

describe('kills of the agent', { skip: withoutNodes(), timeout: 600_000 }, () => {
  for (const [families, ipamConfig] of selectCases(Object.entries(shapes)))
    kills(families, ipamConfig);
});
