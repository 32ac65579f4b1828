/**
 * Each client asks each address of the same services at kube-proxy and at agents. Differences are those of
 * docs/services.md, "Compared with kube-proxy".
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutKubeProxy, withoutSocketHooks } from '#test/support/requirements.ts';
import { TracedAgents } from '../support/kube-proxy/agents.ts';
import {
  type Compared,
  type Difference,
  documentedDifferences,
  faultsOf,
} from '../support/kube-proxy/differences.ts';
import { KernelSockets } from '../support/kube-proxy/kernel-sockets.ts';
import { KubeProxyCluster } from '../support/kube-proxy/kube-proxy.ts';
import {
  answerText,
  type ClientKind,
  clients,
  completeAnswers,
  endpointsOf,
  questions,
} from '../support/kube-proxy/matrix.ts';

describe('services compared with kube-proxy', { skip: withoutKubeProxy() }, () => {
  let cluster: KubeProxyCluster;
  let agents: TracedAgents;
  /** Services with session affinity. */
  let affine: ReadonlySet<string>;

  before(async () => {
    cluster = await KubeProxyCluster.start();
    agents = await TracedAgents.start(cluster.services, cluster.slices);
    const all = cluster.services.filter(({ spec }) => spec.sessionAffinity === 'ClientIP');
    affine = new Set(all.map(({ metadata }) => metadata.name));
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
    const compared = [...(await cluster.answers(cells))].map(([cell, kubeProxy]) => ({
      cell,
      kubeProxy,
      agent: agents.answer(cell),
      hasAffinity: affine.has(cell.question.service),
    }));
    const faults = faultsOf(compared, documentedDifferences());
    assert.deepEqual(faults.slice(0, 50), [], `${faults.length} faults`);
  });

  it('reach the same by the programs of the kernel', { skip: withoutSocketHooks() }, async () => {
    await using sockets = await KernelSockets.start(agents.sockets);
    let translated = 0;
    for (const question of questions(cluster.services)) {
      const { service, kind, target } = question;
      const expected = agents.answer({ client: 'pod', question });
      const first = await sockets.connect(target);
      if (first === undefined) {
        assert.ok(['refused', 'no answer'].includes(expected), `${service}, ${kind}: no answer`);
        continue;
      }
      translated++;
      const answers = [first];
      await completeAnswers(
        answers,
        affine.has(service) ? 1 : endpointsOf(cluster.slices, service),
        async () => [(await sockets.connect(target))!],
      );
      const isExpected = affine.has(service)
        ? expected.split(' ').includes(answerText(answers))
        : expected === answerText(answers);
      assert.ok(isExpected, `${service}, ${kind}: ${answerText(answers)}, not ${expected}`);
    }
    assert.ok(translated > 150, `${translated} are translated`);
  });
});

describe('the comparison with kube-proxy', () => {
  const question = {
    service: 'web',
    kind: 'cluster IP',
    target: { address: '10.96.0.100', port: 80, protocol: 'TCP' },
  } as const;
  const text = 'web may be refused';
  const documented: Difference = {
    text,
    services: ['all'],
    clients: ['pod'],
    addresses: ['cluster IP'],
    kubeProxy: 'backends',
    agent: 'refused',
  };
  const compared = (kubeProxy: string, agent: string): Compared => ({
    cell: { client: 'pod', question },
    kubeProxy,
    agent,
    hasAffinity: false,
  });
  const [equal, other] = [compared('a1:8080', 'a1:8080'), compared('a1:8080', 'refused')];

  it('accepts equal answers, and documented differences', () => {
    assert.deepEqual(faultsOf([equal], []), []);
    assert.deepEqual(faultsOf([other], [documented]), []);
  });

  it('reports a difference that is not documented, or documented as another one', () => {
    assert.equal(faultsOf([other], []).length, 1);
    assert.equal(faultsOf([other], [{ ...documented, agent: 'no answer' }]).length, 1);
    assert.equal(faultsOf([compared('a1:8080', 'a2:8080')], []).length, 1);
  });

  it('reports a documented difference that does not exist, everywhere or in one cell', () => {
    assert.deepEqual(faultsOf([compared('refused', 'refused')], [documented]), [
      `no such difference: ${text}`,
    ]);
    assert.equal(faultsOf([equal, other], [documented]).length, 1);
  });
});
