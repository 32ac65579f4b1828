/** An agent whose maps for services at sockets have another layout replaces one that runs, under connections. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { a, b, serviceRecords, x } from '#test/services/compliance/records.ts';
import type { Answer } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';
import { ownLayout } from '../support/socket-files.ts';

const skip = withoutNodes() || withoutVhostNet() || withoutSocketHooks();
const ADDRESS = '10.96.3.30';
const target = { address: ADDRESS, port: 80, protocol: 'TCP' } as const;

describe('an upgrade of the layout of maps', { skip, timeout: 300_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true });
    for (const [pod, node] of [
      ['a', 'node1'],
      ['b', 'node1'],
      ['x', 'node2'],
    ] as const)
      await cluster.startPod(pod, node, [8080]);
    await apply([b]);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const apply = (backends: readonly (typeof a)[]) =>
    cluster.apply(
      serviceRecords(cluster, 'upgraded', {
        cluster_ip: ADDRESS,
        ports: [{ port: 80, target: 8080 }],
        backends,
      }),
    );

  it('loses no connection of a pod, and the new agent has the change of the time between', async () => {
    const files = cluster.socketFilesOf('node1');
    let isOver = false;
    const upgrade = (async () => {
      await cluster.restartAgent('node1', 'SIGKILL', async () => {
        files.becomeOtherLayout();
        await apply([x]);
      });
      await until('the new maps are in use', () => files.layouts().join() === ownLayout);
    })().finally(() => {
      isOver = true;
    });
    const answers: Answer[] = [];
    while (!isOver) answers.push(...(await cluster.connect(a, target)));
    await upgrade;
    const results = new Set(answers.map(({ result }) => result));
    assert.deepEqual([...results], ['answered']);
    assert.ok(answers.length > 50, `${answers.length} connections`);
    const [last] = await cluster.connect(a, target);
    assert.equal(last!.result === 'answered' && last!.backend, 'x');
  });
});
