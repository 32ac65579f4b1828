/** All policies of the cluster, and what they permit the attached pods of this node. */
import type { Slices } from '#infra/clock/slices.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { AddressOwners, type PodAttachment } from '../cache/address-owners.ts';
import type { Labels } from '../cache/labels.ts';
import { NamespaceTable } from '../cache/namespace-table.ts';
import { NodeTable, type OwnAddresses, type PolicyNodeObject } from '../cache/node-table.ts';
import type { PeerSelector } from '../cache/peer-selector.ts';
import { PeerSelectors } from '../cache/peer-selectors.ts';
import { PodTable } from '../cache/pod-table.ts';
import { isSamePod, type PolicyPod } from '../cache/policy-pod.ts';
import type { PolicySpec } from '../configurator/policy-spec.ts';
import type { PodName, PodPolicy, PolicyName } from '../pod-policy.ts';
import { AttachmentEntry } from './attachment-entry.ts';
import { PolicyEntries } from './policy-entries.ts';
import type { PolicyEntry } from './policy-entry.ts';
import type { ProcessorChange } from './processor-change.ts';

/** Everything that decides. Iterables are read once, in slices. */
export interface PolicyInput {
  readonly namespaces: Iterable<readonly [string, Labels]>;
  readonly nodes: Iterable<readonly [string, PolicyNodeObject]>;
  readonly ownAddresses: OwnAddresses;
  readonly pods: Iterable<PolicyPod>;
  readonly policies: Iterable<PolicySpec>;
  readonly attachments: Iterable<PodAttachment>;
}

const noSelectors: ReadonlySet<PeerSelector> = new Set();

export class PolicyTable {
  readonly #pods = new PodTable();
  readonly #namespaces = new NamespaceTable();
  readonly #owners = new AddressOwners(this.#pods);
  readonly #peers = new PeerSelectors(this.#pods, this.#owners, this.#namespaces);
  readonly #nodes = new NodeTable();
  readonly #policies = new PolicyEntries({
    namespaces: this.#namespaces,
    nodes: this.#nodes,
    peers: this.#peers,
  });
  readonly #attachments = new Map<AttachmentId, AttachmentEntry>();
  readonly #inNamespace = new Map<string, Set<AttachmentEntry>>();
  readonly #results = new Map<AttachmentId, PodPolicy>();
  readonly #problems = new Map<PolicyName, readonly string[]>();
  readonly #unresolved = new Map<PolicyName, readonly string[]>();

  static async of(input: PolicyInput, slices: Slices): Promise<PolicyTable> {
    const table = new PolicyTable();
    await table.#fill(input, slices);
    return table;
  }

  async #fill(input: PolicyInput, slices: Slices): Promise<void> {
    for (const [name, labels] of input.namespaces) {
      this.#namespaces.set(name, labels);
      if (slices.due()) await slices.turn();
    }
    for (const [name, node] of input.nodes) {
      this.#nodes.set(name, node);
      if (slices.due()) await slices.turn();
    }
    for (const [name, addresses] of input.ownAddresses) {
      this.#nodes.setOwn(name, addresses);
      if (slices.due()) await slices.turn();
    }
    for (const pod of input.pods) {
      this.#pods.set(pod.name, pod);
      if (slices.due()) await slices.turn();
    }
    const change = new Change();
    for (const spec of input.policies) {
      this.#policies.set(spec.name, spec);
      change.policies.add(spec.name);
      if (slices.due()) await slices.turn();
    }
    for (const attachment of input.attachments) {
      this.#owners.add(attachment);
      this.#add(attachment, undefined);
    }
    await this.#apply(change, [...this.#attachments.values()], noSelectors, slices);
  }

  results(): ReadonlyMap<AttachmentId, PodPolicy> {
    return this.#results;
  }

  problems(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#problems;
  }

  unresolved(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#unresolved;
  }

  /** @param pod undefined: it was deleted */
  async setPod(
    name: PodName,
    pod: PolicyPod | undefined,
    slices: Slices,
  ): Promise<ProcessorChange> {
    const change = new Change();
    const before = this.#pods.get(name);
    if (isSamePod(before, pod)) return change;
    const attachments = this.#owners.attachmentsOf(name);
    const addresses = [
      ...(before?.addresses ?? []),
      ...(pod?.addresses ?? []),
      ...attachments.flatMap((one) => one.addresses),
    ];
    const selectors = await this.#peers.change(addresses, () => this.#pods.set(name, pod), slices);
    const entries = attachments.flatMap(({ id }) => this.#attachments.get(id) ?? []);
    await this.#apply(change, entries, selectors, slices);
    return change;
  }

  /** @param labels undefined: the namespace was deleted */
  async setNamespace(
    name: string,
    labels: Labels | undefined,
    slices: Slices,
  ): Promise<ProcessorChange> {
    const change = new Change();
    const before = this.#policies.selectionOf(name);
    const selectors = await this.#peers.changeNamespace(
      name,
      () => this.#namespaces.set(name, labels),
      slices,
    );
    const after = this.#policies.selectionOf(name);
    const isSame = [...after].every(([policy, selection]) => selection === before.get(policy));
    const entries = isSame ? [] : [...(this.#inNamespace.get(name) ?? [])];
    await this.#apply(change, entries, selectors, slices);
    return change;
  }

  /** @param node undefined: it was deleted */
  async setNode(
    name: string,
    node: PolicyNodeObject | undefined,
    slices: Slices,
  ): Promise<ProcessorChange> {
    return this.#nodesChanged(this.#nodes.set(name, node), slices);
  }

  /** @param addresses that the node has beside those of its object */
  async setOwnAddresses(
    name: string,
    addresses: readonly string[],
    slices: Slices,
  ): Promise<ProcessorChange> {
    return this.#nodesChanged(this.#nodes.setOwn(name, addresses), slices);
  }

  ownAddresses(): OwnAddresses {
    return this.#nodes.ownAddresses();
  }

  async #nodesChanged(hasChanged: boolean, slices: Slices): Promise<ProcessorChange> {
    const change = new Change();
    if (hasChanged)
      await this.#apply(change, [], noSelectors, slices, this.#policies.usersOfNodes());
    return change;
  }

  /** @param spec undefined: the policy was deleted */
  async setPolicy(
    name: PolicyName,
    spec: PolicySpec | undefined,
    slices: Slices,
  ): Promise<ProcessorChange> {
    const change = new Change();
    const { before, after } = this.#policies.set(name, spec);
    const entries: AttachmentEntry[] = [];
    for (const entry of this.#candidates((before ?? after)?.namespaces)) {
      const { record, policies } = entry;
      if (
        record === undefined ||
        policies.some(({ policy }) => policy === before) ||
        (after?.selects(record, this.#namespaces) ?? 'none') !== 'none'
      )
        entries.push(entry);
    }
    change.policies.add(name);
    await this.#apply(change, entries, noSelectors, slices);
    return change;
  }

  /** @param attachment undefined: the pod is not attached any more */
  async setAttachment(
    id: AttachmentId,
    attachment: PodAttachment | undefined,
    slices: Slices,
  ): Promise<ProcessorChange> {
    const change = new Change();
    const before = this.#attachments.get(id);
    if (before === undefined && attachment === undefined) return change;
    const selectors = await this.#peers.change(
      [...(before?.attachment.addresses ?? []), ...(attachment?.addresses ?? [])],
      () => {
        if (before !== undefined) this.#owners.delete(before.attachment);
        if (attachment !== undefined) this.#owners.add(attachment);
      },
      slices,
    );
    if (before !== undefined) this.#remove(before, change);
    if (attachment === undefined) {
      this.#results.delete(id);
      change.pods.set(id, undefined);
    }
    const entries = attachment === undefined ? [] : [this.#add(attachment, before)];
    await this.#apply(change, entries, selectors, slices);
    return change;
  }

  /** Attachments to which a policy of the scope may apply. */
  #candidates(namespaces: PolicyEntry['namespaces'] | undefined): Iterable<AttachmentEntry> {
    if (typeof namespaces !== 'string') return this.#attachments.values();
    // a pod that is unknown may be in any namespace
    const unknown = this.#inNamespace.get('') ?? [];
    return [...(this.#inNamespace.get(namespaces) ?? []), ...unknown];
  }

  #add(attachment: PodAttachment, before: AttachmentEntry | undefined): AttachmentEntry {
    const { id, namespace } = attachment;
    const entry = new AttachmentEntry(attachment, before?.policy);
    this.#attachments.set(id, entry);
    const others = this.#inNamespace.get(namespace);
    if (others === undefined) this.#inNamespace.set(namespace, new Set([entry]));
    else others.add(entry);
    return entry;
  }

  #remove(entry: AttachmentEntry, change: Change): void {
    const { id, namespace } = entry.attachment;
    this.#attachments.delete(id);
    const others = this.#inNamespace.get(namespace);
    others?.delete(entry);
    if (others?.size === 0) this.#inNamespace.delete(namespace);
    for (const { policy } of entry.policies) {
      this.#policies.detach(policy, id);
      change.policies.add(policy.spec.name);
    }
  }

  /**
   * @param entries attachments that other policies may select
   * @param selectors peers that have changed
   * @param others policies that have changed for other reasons
   */
  async #apply(
    change: Change,
    entries: readonly AttachmentEntry[],
    selectors: ReadonlySet<PeerSelector>,
    slices: Slices,
    others: readonly PolicyEntry[] = [],
  ): Promise<void> {
    for (const entry of entries) {
      await this.#select(entry, change, slices);
      if (slices.due()) await slices.turn();
    }
    const affected = new Set(entries);
    for (const policy of [...this.#policies.usersOf(selectors), ...others]) {
      change.policies.add(policy.spec.name);
      for (const id of policy.attachments.keys())
        affected.add(this.#attachments.get(id) as AttachmentEntry);
    }
    for (const entry of affected) {
      if (entry.refresh()) {
        const { id } = entry.attachment;
        this.#results.set(id, entry.policy as PodPolicy);
        change.pods.set(id, entry.policy);
      }
      if (slices.due()) await slices.turn();
    }
    for (const name of change.policies) {
      const policy = this.#policies.get(name);
      setReasons(this.#problems, name, policy?.problems() ?? []);
      setReasons(this.#unresolved, name, policy?.unresolved() ?? []);
      if (slices.due()) await slices.turn();
    }
    // last, so that peers which go over from one policy to another one are not looked for again
    this.#policies.deactivateUnused();
  }

  /** Finds the policies of an attachment again. */
  async #select(entry: AttachmentEntry, change: Change, slices: Slices): Promise<void> {
    const { attachment, policies: before } = entry;
    const { id, namespace } = attachment;
    const record = this.#owners.recordOf(attachment);
    entry.record = record;
    entry.policies =
      record === undefined
        ? this.#policies.ofNamespace(namespace)
        : this.#policies.selecting(record);
    const attached = new Set<PolicyEntry>();
    for (const { policy, isKnown } of entry.policies) if (isKnown) attached.add(policy);
    for (const { policy } of before) {
      change.policies.add(policy.spec.name);
      if (!attached.has(policy)) this.#policies.detach(policy, id);
    }
    for (const { policy } of entry.policies) {
      change.policies.add(policy.spec.name);
      if (attached.has(policy) && record) await this.#policies.attach(policy, id, record, slices);
    }
  }
}

function setReasons(
  of: Map<PolicyName, readonly string[]>,
  name: PolicyName,
  reasons: readonly string[],
): void {
  if (reasons.length > 0) of.set(name, reasons);
  else of.delete(name);
}

class Change implements ProcessorChange {
  readonly pods = new Map<AttachmentId, PodPolicy | undefined>();
  /** Policies whose problems or users may have changed. */
  readonly policies = new Set<PolicyName>();
}
