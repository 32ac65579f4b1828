/**
 * Each client asks each address of the same services at kube-proxy and at agents. Differences are those of
 * docs/services.md, "Compared with kube-proxy".
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutKubeProxy } from '#test/support/requirements.ts';
import { TracedAgents } from '../support/kube-proxy/agents.ts';
import { documentedDifferences, faultsOf } from '../support/kube-proxy/differences.ts';
import { KubeProxyCluster } from '../support/kube-proxy/kube-proxy.ts';
import { type ClientKind, clients, questions } from '../support/kube-proxy/matrix.ts';

describe('services compared with kube-proxy', { skip: withoutKubeProxy() }, () => {
  let cluster: KubeProxyCluster;
  let agents: TracedAgents;

  before(async () => {
    cluster = await KubeProxyCluster.start();
    agents = await TracedAgents.start(cluster.services, cluster.slices);
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  it('differ only where the documentation gives a reason', async () => {
    const kinds = Object.keys(clients) as ClientKind[];
    const cells = questions(cluster.services).flatMap((question) =>
      kinds.map((client) => ({ client, question })),
    );
    assert.ok(cells.length > 800, `${cells.length} cells`);
    const affine = new Set(
      cluster.services
        .filter(({ spec }) => spec.sessionAffinity === 'ClientIP')
        .map(({ metadata }) => metadata.name),
    );
    const compared = [...(await cluster.answers(cells))].map(([cell, kubeProxy]) => ({
      cell,
      kubeProxy,
      agent: agents.answer(cell),
      hasAffinity: affine.has(cell.question.service),
    }));
    const faults = faultsOf(compared, documentedDifferences());
    assert.deepEqual(faults.slice(0, 50), [], `${faults.length} faults`);
  });
});
