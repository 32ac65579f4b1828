/**
 * Random nodes, policies, failures and restarts of contiv-ksr. What it sums up is compared with what each node really has: it never
 * says that a node enforces a policy which the node has not applied, or refuses, and knows all that nodes have said since it runs.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import type { ClusterEnforcement } from '#ksr/policy-enforcement/cluster-enforcement.ts';
import type { Enforcement } from '#ksr/policy-enforcement/enforcement-summary.ts';
import { clusterNetworkPolicyModel } from '#kubernetes/models/cluster-network-policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { checkProperty } from '../support/random-cases.ts';
import { EnforcingCluster } from './support/enforcing-cluster.ts';

const FILE = 'test/ksr/policy-enforcement-properties.test.ts';

const node = fc.constantFrom('n1', 'n2', 'n3', 'n4', 'n5');
const policy = fc.constantFrom('a', 'b', 'c');

type Step =
  | { readonly kind: 'set'; readonly policy: string }
  | { readonly kind: 'delete'; readonly policy: string }
  | { readonly kind: 'apply'; readonly node: string }
  | { readonly kind: 'refuse'; readonly node: string; readonly policy: string }
  | { readonly kind: 'accept'; readonly node: string }
  | { readonly kind: 'lose-vpp'; readonly node: string }
  | { readonly kind: 'end'; readonly node: string }
  | { readonly kind: 'junk'; readonly node: string }
  | { readonly kind: 'join'; readonly node: string }
  | { readonly kind: 'leave'; readonly node: string }
  | { readonly kind: 'restart' };

const of = <K extends Step['kind']>(kind: K) => fc.constant(kind);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: of('set'), policy }) },
  fc.record({ kind: of('delete'), policy }),
  { weight: 6, arbitrary: fc.record({ kind: of('apply'), node }) },
  { weight: 2, arbitrary: fc.record({ kind: of('refuse'), node, policy }) },
  fc.record({ kind: of('accept'), node }),
  fc.record({ kind: of('lose-vpp'), node }),
  fc.record({ kind: of('end'), node }),
  fc.record({ kind: of('junk'), node }),
  fc.record({ kind: of('join'), node }),
  fc.record({ kind: of('leave'), node }),
  fc.record({ kind: of('restart') }),
);

/** As a node is, and what it has written. */
interface TrueNode {
  isRunning: boolean;
  isJunk: boolean;
  hasVpp: boolean;
  readonly refused: Set<string>;
  applied: ReadonlyMap<string, string>;
}

class World {
  readonly clock = new ManualClock();
  readonly cluster = new EnforcingCluster([]);
  readonly nodes = new Map<string, TrueNode>();
  /** Sets of records since contiv-ksr runs. */
  states: string[] = [''];
  ksr: ClusterEnforcement;
  #version = 0;

  constructor() {
    this.ksr = this.#started();
  }

  #started(): ClusterEnforcement {
    const ksr = this.cluster.enforcement(this.clock);
    ksr.start(() => undefined);
    return ksr;
  }

  async apply(one: Step): Promise<void> {
    const { cluster } = this;
    if (one.kind === 'restart') {
      await this.ksr.close();
      this.ksr = this.#started();
      this.states = [cluster.digest()];
    } else if (one.kind === 'set' || one.kind === 'delete') {
      const text = one.kind === 'set' ? policyText(one.policy, ++this.#version) : undefined;
      await cluster.setPolicy(one.policy, text);
      this.states.push(cluster.digest());
    } else if (one.kind === 'join') {
      cluster.join(one.node);
      if (!this.nodes.has(one.node)) this.nodes.set(one.node, newNode());
    } else if (one.kind === 'leave') {
      cluster.leave(one.node);
      this.nodes.delete(one.node);
    } else {
      const found = this.nodes.get(one.node);
      if (found !== undefined) changeNode(found, one, new Map(cluster.texts));
    }
  }

  /** All agents that run write their records; then contiv-ksr sums up. */
  async settle(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      for (const [name, one] of this.nodes) await this.#report(name, one);
      await this.clock.advance(60_000);
    }
    for (const [name, one] of this.nodes) await this.#report(name, one);
    await this.clock.advance(10_000);
  }

  async #report(name: string, one: TrueNode): Promise<void> {
    const { isRunning, isJunk, hasVpp, refused, applied } = one;
    if (!isRunning) return;
    if (isJunk) return await this.cluster.write(name, `{"updated": ${this.clock.monotonic()}`);
    await this.cluster.report(name, {
      applied: this.cluster.digest(applied),
      problem: hasVpp ? '' : 'VPP is not connected',
      not_enforced: [...refused].map((of) => ({ policy: of, code: 'NotCarried', reason: 'x' })),
    });
  }

  expected(name: string, text: string): Pick<Enforcement, 'nodes' | 'refusing' | 'unknown'> {
    let [refusing, unknown] = [0, 0];
    for (const { isRunning, isJunk, hasVpp, refused, applied } of this.nodes.values()) {
      if (!isRunning || isJunk) unknown++;
      else if (!hasVpp) refusing++;
      // of sets before the restart nothing is known
      else if (!this.states.includes(this.cluster.digest(applied))) unknown++;
      else if (applied.get(name) !== text) unknown++;
      else if (refused.has(name)) refusing++;
    }
    return { nodes: this.nodes.size, refusing, unknown };
  }
}

function newNode(): TrueNode {
  return {
    isRunning: true,
    isJunk: false,
    hasVpp: true,
    refused: new Set(),
    applied: new Map(),
  };
}

function changeNode(
  of: TrueNode,
  one: Extract<Step, { readonly node: string }>,
  texts: ReadonlyMap<string, string>,
): void {
  if (one.kind === 'end') of.isRunning = false;
  if (one.kind === 'junk') of.isJunk = true;
  if (one.kind === 'lose-vpp') of.hasVpp = false;
  if (one.kind === 'refuse') of.refused.add(one.policy);
  if (one.kind === 'accept') of.refused.clear();
  if (one.kind === 'apply')
    Object.assign(of, { isRunning: true, isJunk: false, hasVpp: true, applied: texts });
}

function policyText(name: string, version: number): string {
  const record = clusterNetworkPolicyModel.canonical({ name, priority: version });
  return valueText(resources.clusternetworkpolicy, record);
}

const TITLE = 'the sum is what the nodes really have';
test(TITLE, async () => {
  await checkProperty(
    { file: FILE, name: TITLE },
    300,
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const world = new World();
      for (const name of ['n1', 'n2', 'n3']) await world.apply({ kind: 'join', node: name });
      try {
        for (const [at, one] of steps.entries()) {
          await world.apply(one);
          // watches are followed at once, without rounds in between
          await world.clock.advance(0);
          if (at % 8 === 7) await world.settle();
        }
        await world.settle();
        for (const [name, text] of world.cluster.texts) {
          const found = world.ksr.of(name, text);
          assert.ok(found, 'all had the time to be heard');
          const { nodes, refusing, unknown } = found;
          assert.deepEqual({ nodes, refusing, unknown }, world.expected(name, text));
          assert.ok(found.reasons.length === Math.min(3, refusing));
        }
        // the record is not written yet
        const other = world.ksr.of('a', policyText('a', 1_000));
        assert.equal((other?.refusing ?? 0) + (other?.unknown ?? 0), other?.nodes);
      } finally {
        await world.ksr.close();
      }
    }),
  );
});
