/** The condition of ClusterNetworkPolicies that says whether the nodes enforce them, from the records of their agents. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import {
  MAX_LISTED_REFUSALS,
  policyEnforcementKey,
} from '#kubernetes/models/policy-enforcement.ts';
import type { KubeObject } from '#kubernetes/reflector/objects/object.ts';
import { clusterPolicyStatus, policyTexts, StubApiServer } from './support/cluster-policy-api.ts';
import { EnforcingCluster } from './support/enforcing-cluster.ts';

const MINUTE = 60_000;

class Bench {
  readonly clock = new ManualClock();
  readonly api = new StubApiServer('v1beta1');
  readonly cluster: EnforcingCluster;
  readonly nodes: readonly string[];
  writer;

  constructor(...nodes: string[]) {
    this.nodes = nodes;
    this.cluster = new EnforcingCluster(nodes);
    this.writer = this.#started();
  }

  #started() {
    const writer = clusterPolicyStatus(this);
    writer.start();
    return writer;
  }

  async restart(): Promise<void> {
    await this.writer.close();
    this.writer = this.#started();
  }

  /** An administrator writes a policy, and contiv-ksr its record. */
  async put(name: string, cidr = '10.0.0.0/8'): Promise<void> {
    this.api.put(name, { networks: [cidr] });
    const object = { kind: 'ClusterNetworkPolicy', ...this.api.objects.get(name) };
    await this.cluster.setPolicy(name, policyTexts.of(object as KubeObject)?.text);
  }

  /** The agents of nodes write their records for this time. */
  async run(ms: number, report = (node: string) => this.cluster.report(node)): Promise<void> {
    for (let at = 0; at < ms; at += 5_000) {
      if (at % MINUTE === 0) for (const node of this.nodes) await report(node);
      await this.clock.advance(5_000);
    }
  }

  enforced(name: string) {
    const all = this.api.conditions(name);
    const { status, reason, message, observedGeneration } =
      all.find(({ type }) => type === 'Enforced') ?? {};
    return { status, reason, message, generation: observedGeneration };
  }
}

describe('the condition Enforced', () => {
  it('is True when all nodes have said so, and follows each content of the object', async () => {
    await using bench = disposable(new Bench('n1', 'n2'));
    await bench.put('p');
    await bench.run(30_000);
    assert.deepEqual(bench.enforced('p'), {
      status: 'True',
      reason: 'AllNodesEnforce',
      message: 'all nodes enforce it, as far as Accepted says',
      generation: 1,
    });
    const patches = bench.api.patches.length;
    await bench.run(10 * MINUTE);
    assert.equal(bench.api.patches.length, patches, 'heartbeats cost no write');
    const before = bench.cluster.digest();
    await bench.put('p', '10.0.0.0/9');
    await bench.run(30_000, (node) => bench.cluster.report(node, { applied: before }));
    assert.deepEqual(bench.enforced('p'), {
      status: 'Unknown',
      reason: 'NodesUnknown',
      message: 'of 2 of 2 nodes it is not known: n1, n2',
      generation: 2,
    });
    await bench.run(30_000, (node) =>
      bench.cluster.report(node, node === 'n1' ? {} : { applied: before }),
    );
    assert.equal(bench.enforced('p').message, 'of 1 of 2 nodes it is not known: n2');
    await bench.run(30_000);
    assert.equal(bench.enforced('p').status, 'True');
  });

  it('does not become unknown when another policy changes', async () => {
    await using bench = disposable(new Bench('n1'));
    await bench.put('p');
    await bench.run(30_000);
    const before = bench.cluster.digest();
    await bench.put('q');
    await bench.run(60_000, (node) => bench.cluster.report(node, { applied: before }));
    assert.deepEqual([bench.enforced('p').status, bench.enforced('q').status], ['True', 'Unknown']);
  });

  it('names the nodes that do not enforce it, and why', async () => {
    await using bench = disposable(new Bench('n1', 'n2', 'n3', 'n4', 'n5'));
    await bench.put('p');
    await bench.put('q');
    const refusal = { policy: 'p', code: 'NotCarried', reason: 'too many rules' };
    const report = (node: string) => {
      if (node === 'n5') return bench.cluster.report(node, { problem: 'VPP is not connected' });
      return bench.cluster.report(node, { not_enforced: node === 'n1' ? [] : [refusal] });
    };
    await bench.run(30_000, report);
    assert.equal(bench.enforced('p').status, 'False');
    assert.equal(
      bench.enforced('p').message,
      '4 of 5 nodes do not enforce it as defined: n2 (NotCarried: too many rules), n3 (NotCarried: too many rules), n4 (NotCarried: too many rules), 1 more',
    );
    assert.equal(
      bench.enforced('q').message,
      '1 of 5 nodes do not enforce it as defined: n5 (VPP is not connected)',
    );
    assert.deepEqual(bench.writer.counts(), { True: 0, False: 2, Unknown: 0 });
  });

  it('is unknown for a node whose agent has ended, and for one that has joined', async () => {
    await using bench = disposable(new Bench('n1', 'n2'));
    await bench.put('p');
    await bench.run(MINUTE);
    assert.equal(bench.enforced('p').status, 'True');
    bench.cluster.join('n3');
    await bench.run(30_000);
    assert.equal(bench.enforced('p').message, 'of 1 of 3 nodes it is not known: n3');
    bench.cluster.leave('n3');
    await bench.run(2 * MINUTE);
    assert.equal(bench.enforced('p').status, 'True');
    await bench.run(4 * MINUTE, async (node) => {
      if (node === 'n1') await bench.cluster.report(node);
    });
    assert.equal(bench.enforced('p').message, 'of 1 of 2 nodes it is not known: n2');
    await bench.cluster.store.delete(policyEnforcementKey.build({ name: 'n1' }));
    await bench.run(30_000, async () => undefined);
    assert.equal(bench.enforced('p').message, 'of 2 of 2 nodes it is not known: n1, n2');
  });

  it('stays as it is after a restart until each node was heard or had the time to be', async () => {
    await using bench = disposable(new Bench('n1', 'n2'));
    await bench.put('p');
    await bench.run(MINUTE);
    const { patches } = bench.api;
    const count = patches.length;
    await bench.restart();
    await bench.run(80_000, async (node) => {
      if (node === 'n1') await bench.cluster.report(node);
    });
    assert.equal(patches.length, count);
    await bench.run(MINUTE, async () => undefined);
    assert.equal(bench.enforced('p').message, 'of 1 of 2 nodes it is not known: n2');
    await bench.restart();
    await bench.run(30_000);
    assert.equal(bench.enforced('p').status, 'True');
  });

  it('is unknown for records that cannot be read, of another node, too long, or cut', async () => {
    await using bench = disposable(new Bench('n1', 'n2', 'n3', 'n4', 'n5'));
    await bench.put('p');
    const not_enforced = Array.from({ length: MAX_LISTED_REFUSALS + 1 }, (_, at) => ({
      policy: `other-${at}`,
      code: 'NotCarried',
      reason: 'x'.repeat(1_000),
    }));
    let round = 0;
    const malformed: Record<string, () => Promise<void>> = {
      n1: () => bench.cluster.write('n1', `[${round++}`),
      n2: () => bench.cluster.report('n2', { node_name: 'n1' }),
      n3: () => bench.cluster.report('n3', { not_enforced }),
      n4: () => bench.cluster.report('n4', { problem: ' '.repeat(70_000) }),
      n5: () => bench.cluster.report('n5', { unlisted: 1 }),
    };
    await bench.run(30_000, (node) => malformed[node]!());
    assert.equal(
      bench.enforced('p').message,
      'of 5 of 5 nodes it is not known: n1, n2, n3, 2 more',
    );
  });

  it('is not written more than once in a round, whatever changes on nodes', async () => {
    await using bench = disposable(new Bench(...Array.from({ length: 50 }, (_, at) => `n${at}`)));
    await bench.put('p');
    await bench.run(MINUTE);
    const before = bench.api.patches.length;
    for (let at = 0; at < 60; at++) {
      const reason = `reason ${at}`;
      for (const node of bench.nodes)
        await bench.cluster.report(node, {
          not_enforced: [{ policy: 'p', code: 'NotCarried', reason }],
        });
      await bench.clock.advance(1_000);
    }
    assert.ok(bench.api.patches.length - before <= 7, `${bench.api.patches.length - before}`);
  });
});

function disposable(bench: Bench): Bench & AsyncDisposable {
  return Object.assign(bench, { [Symbol.asyncDispose]: () => bench.writer.close() });
}
