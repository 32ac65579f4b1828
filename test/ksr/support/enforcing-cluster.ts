/** Nodes whose agents write what they do not enforce, and contiv-ksr, which sums it up. */
import { type ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { ClusterEnforcement } from '#ksr/policy-enforcement/cluster-enforcement.ts';
import { RecordTable } from '#ksr/records/record-table.ts';
import { clusterNetworkPolicyModel } from '#kubernetes/models/cluster-network-policy.ts';
import {
  type PolicyEnforcement,
  PolicySetDigest,
  policyDigest,
  policyEnforcementKey,
  policyEnforcementModel,
} from '#kubernetes/models/policy-enforcement.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const policies = resources.clusternetworkpolicy;

export class EnforcingCluster {
  readonly store = new MemoryStore();
  readonly nodes = new RecordTable(REFLECTOR_PREFIX + resources.node.keyPrefix);
  /** Records of policies, by name. */
  readonly texts = new Map<string, string>();
  #written = 0;

  /** @param nodes undefined: they are not listed yet */
  constructor(nodes?: readonly string[]) {
    if (nodes === undefined) return;
    this.nodes.beginList();
    for (const node of nodes) this.join(node);
    this.nodes.endList();
  }

  enforcement(clock: ManualClock): ClusterEnforcement {
    const { store, nodes } = this;
    const random = seededRandom(1);
    const log = silentLogger;
    return new ClusterEnforcement({ store, nodes, prefix: REFLECTOR_PREFIX, clock, random, log });
  }

  join(node: string): void {
    this.nodes.set(this.nodes.prefix + node, '{}');
  }

  leave(node: string): void {
    this.nodes.delete(this.nodes.prefix + node);
  }

  /** @param text of the record; undefined: it is deleted */
  async setPolicy(name: string, text: string | undefined): Promise<void> {
    const key = REFLECTOR_PREFIX + policies.key(name, '');
    if (text === undefined) {
      this.texts.delete(name);
      await this.store.delete(key);
    } else {
      this.texts.set(name, text);
      await this.store.put(key, text);
    }
  }

  /** Digest of the records as they are now. */
  digest(texts: ReadonlyMap<string, string> = this.texts): string {
    const set = new PolicySetDigest();
    for (const text of texts.values())
      set.toggle(policyDigest(clusterNetworkPolicyModel.parse(JSON.parse(text))));
    return set.text;
  }

  /** The agent of a node writes its record. */
  async report(node: string, more: DeepInput<PolicyEnforcement> = {}): Promise<void> {
    const record = policyEnforcementModel.canonical({
      node_name: node,
      applied: this.digest(),
      ...more,
      updated: `${this.#written++}`,
    });
    await this.write(node, JSON.stringify(policyEnforcementModel.toJson(record)));
  }

  async write(node: string, text: string): Promise<void> {
    await this.store.put(policyEnforcementKey.build({ name: node }), text);
  }
}
