/**
 * Kubernetes semantics of network policies: computes from Pod, Namespace, Node, NetworkPolicy and ClusterNetworkPolicy
 * objects which rules each attached pod of this node has. A change looks only at the pods and policies that it
 * can concern; a resync reaches the same state.
 */
import type { Slices } from '#infra/clock/slices.ts';
import { closedPods } from '#kubernetes/models/closed-pod.ts';
import type { ClusterNetworkPolicy } from '#kubernetes/models/cluster-network-policy.ts';
import type { Namespace } from '#kubernetes/models/namespace.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import { type KeyNames, resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { addressNumber } from '../address-set.ts';
import type { PodAttachment } from '../cache/address-owners.ts';
import { type OwnAddresses, policyNodeObject } from '../cache/node-table.ts';
import { type PolicyPod, policyPod } from '../cache/policy-pod.ts';
import { clusterPolicySpec } from '../configurator/cluster-policy-spec.ts';
import { type PolicySpec, policySpec } from '../configurator/policy-spec.ts';
import type { PodName, PodPolicy, PolicyName } from '../pod-policy.ts';
import { PolicyTable } from './policy-table.ts';
import type { ProcessorChange } from './processor-change.ts';

/** A pod in the network of this node, as its attachment tells. */
export interface AttachedPod {
  readonly pod: PodName;
  /** undefined: unknown. */
  readonly podUid: string | undefined;
  /** Of its interface, without prefix length. */
  readonly addresses: readonly string[];
}

const nothing: ProcessorChange = { pods: new Map() };

export class PolicyProcessor {
  readonly #table: PolicyTable;

  /**
   * Reads the state of Kubernetes.
   * @param ownAddresses none: nodes have those of their objects alone, as far as is known
   */
  static async read(
    state: KubeState,
    attachments: ReadonlyMap<AttachmentId, AttachedPod>,
    slices: Slices,
    ownAddresses: OwnAddresses = new Map(),
  ): Promise<PolicyProcessor> {
    const table = await PolicyTable.of(
      {
        namespaces: recordsOf(state, 'namespace', ({ name }, value) => [
          name,
          (value as Namespace).label,
        ]),
        pods: recordsOf(state, 'pod', (names, value) => readablePod(names, value as Pod)),
        nodes: recordsOf(state, 'node', ({ name }, value) => [
          name,
          policyNodeObject(value as Node),
        ]),
        ownAddresses,
        policies: policySpecs(state),
        attachments: Array.from(attachments, ([id, pod]) => podAttachment(id, pod)),
      },
      slices,
    );
    return new PolicyProcessor(table);
  }

  private constructor(table: PolicyTable) {
    this.#table = table;
  }

  /** Applies a change of the Kubernetes state; other resources than those of policies have no effect. */
  async change(
    { resource, key, current }: Omit<KubeStateChangePayload, 'previous'>,
    slices: Slices,
  ): Promise<ProcessorChange> {
    if (!isInput(resource)) return nothing;
    const names = resources[resource].parseKey(key);
    if (names === undefined) return nothing;
    const { name, namespace } = names;
    switch (resource) {
      case 'pod': {
        const pod = current && readablePod(names, current as Pod);
        return this.#table.setPod(`${namespace}/${name}`, pod, slices);
      }
      case 'namespace':
        return this.#table.setNamespace(name, (current as Namespace | undefined)?.label, slices);
      case 'node':
        return this.#table.setNode(name, current && policyNodeObject(current as Node), slices);
      case 'clusternetworkpolicy': {
        const spec = current && clusterPolicySpec(name, current as ClusterNetworkPolicy);
        return this.#table.setPolicy(name, spec, slices);
      }
      case 'policy': {
        const spec = current && policySpec(name, namespace, current as Policy);
        return this.#table.setPolicy(`${namespace}/${name}`, spec, slices);
      }
    }
  }

  /** @param pod undefined: the pod is not attached any more */
  async setAttachment(
    id: AttachmentId,
    pod: AttachedPod | undefined,
    slices: Slices,
  ): Promise<ProcessorChange> {
    return this.#table.setAttachment(id, pod && podAttachment(id, pod), slices);
  }

  /** @param addresses that a node has beside those of its object; empty: none, it has left */
  async setOwnAddresses(
    node: string,
    addresses: readonly string[],
    slices: Slices,
  ): Promise<ProcessorChange> {
    return this.#table.setOwnAddresses(node, addresses, slices);
  }

  ownAddresses(): OwnAddresses {
    return this.#table.ownAddresses();
  }

  /** Of all attachments, those of pods that no policy isolates as well. */
  policies(): ReadonlyMap<AttachmentId, PodPolicy> {
    return this.#table.results();
  }

  /** Requirements of policies that cannot be met, in sentences for operators. */
  problems(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#table.problems();
  }

  /** Those of them that depend on other objects than the policy. */
  unresolved(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#table.unresolved();
  }
}

/** @returns undefined: the record cannot be read, so that the labels of the pod are unknown */
function readablePod({ name, namespace }: KeyNames, record: Pod): PolicyPod | undefined {
  const isReadable = closedPods.unreadableParts(record) === undefined;
  return isReadable ? policyPod(name, namespace, record) : undefined;
}

const inputs = ['pod', 'namespace', 'node', 'policy', 'clusternetworkpolicy'] as const;

type Input = (typeof inputs)[number];

/** Resources of Kubernetes that decide what policies permit. */
export const policyInputs: ReadonlySet<string> = new Set(inputs);

function isInput(resource: string): resource is Input {
  return policyInputs.has(resource);
}

function* policySpecs(state: KubeState): Generator<PolicySpec, void, void> {
  yield* recordsOf(state, 'policy', ({ name, namespace }, value) =>
    policySpec(name, namespace, value as Policy),
  );
  yield* recordsOf(state, 'clusternetworkpolicy', ({ name }, value) =>
    clusterPolicySpec(name, value as ClusterNetworkPolicy),
  );
}

function* recordsOf<T>(
  state: KubeState,
  resource: Input,
  convert: (names: KeyNames, value: object) => T | undefined,
): Generator<T, void, void> {
  for (const [key, value] of state.get(resource) ?? []) {
    const names = resources[resource].parseKey(key);
    const converted = names && convert(names, value as object);
    if (converted !== undefined) yield converted;
  }
}

function podAttachment(id: AttachmentId, { pod, podUid, addresses }: AttachedPod): PodAttachment {
  return {
    id,
    pod,
    podUid,
    namespace: pod.slice(0, Math.max(0, pod.indexOf('/'))),
    addresses: addresses.flatMap((text) => addressNumber(text) ?? []),
  };
}
