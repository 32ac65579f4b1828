/**
 * One condition of ClusterNetworkPolicies: `Accepted` says whether all of the policy is carried to the nodes, or which rules
 * fail closed. It follows from the object alone, so an object costs one write for each of its contents, however many nodes
 * there are and whatever changes on them.
 */
import { clusterPolicyRemarks } from '#kubernetes/reflector/cluster-network-policy.ts';
import { readKubeObject } from './records/kube-object.ts';
import { clusterPolicyPaths } from './records/reflector.ts';
import {
  type StatusKind,
  type StatusObject,
  StatusWriter,
  type StatusWriterDeps,
} from './status-writer.ts';

const TYPE = {
  kind: 'ClusterNetworkPolicy',
  apiVersion: 'policy.networking.k8s.io/v1beta1',
} as const;
const CONDITION = 'Accepted';
/** Of a message; that of the API. */
const MAX_MESSAGE = 32_768;

/** Of the API. */
interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime?: string;
}

interface PolicyObject extends StatusObject {
  readonly wanted: Condition;
  /** In the API server, of all writers. */
  readonly conditions: readonly Condition[];
}

export function clusterPolicyStatusWriter(deps: StatusWriterDeps): StatusWriter<PolicyObject> {
  return new StatusWriter(deps, new ClusterPolicyStatus(deps.clock));
}

class ClusterPolicyStatus implements StatusKind<PolicyObject> {
  readonly kind = TYPE.kind;
  readonly paths = clusterPolicyPaths;
  readonly #clock: StatusWriterDeps['clock'];

  constructor(clock: StatusWriterDeps['clock']) {
    this.#clock = clock;
  }

  read(raw: unknown): PolicyObject | undefined {
    const { name, object, rejection = '' } = readKubeObject(raw, TYPE);
    if (name === undefined) return undefined;
    const problems = object?.kind === TYPE.kind ? clusterPolicyRemarks(object) : [rejection];
    const { metadata, status } = raw as {
      readonly metadata: { readonly generation?: number };
      readonly status?: { readonly conditions?: readonly Condition[] };
    };
    return {
      name,
      wanted: conditionOf(problems, metadata.generation ?? 0),
      conditions: status?.conditions ?? [],
    };
  }

  /** A merge patch replaces the whole list, so it has the conditions of other writers, too. */
  statusOf(one: PolicyObject): object | 'shown' {
    if (isShown(one)) return 'shown';
    const { wanted, conditions } = one;
    const before = conditions.find(({ type }) => type === CONDITION);
    const now = new Date(this.#clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
    const since = before?.status === wanted.status ? before.lastTransitionTime : undefined;
    const others = conditions.filter(({ type }) => type !== CONDITION);
    return { conditions: [...others, { ...wanted, lastTransitionTime: since ?? now }] };
  }

  /** No other policy has to do with it. */
  changed(): void {}
}

function conditionOf(problems: readonly string[], observedGeneration: number): Condition {
  const isWhole = problems.length === 0;
  return {
    type: CONDITION,
    status: isWhole ? 'True' : 'False',
    reason: isWhole ? 'AllRulesSupported' : 'RulesFailClosed',
    message: isWhole
      ? 'all rules are carried to the nodes'
      : `rules that accept do not match, those that deny or pass deny all: ${problems.join('; ')}`.slice(
          0,
          MAX_MESSAGE,
        ),
    observedGeneration,
  };
}

function isShown({ wanted, conditions }: PolicyObject): boolean {
  return conditions.some(
    ({ type, status, reason, message, observedGeneration }) =>
      type === CONDITION &&
      status === wanted.status &&
      reason === wanted.reason &&
      message === wanted.message &&
      observedGeneration === wanted.observedGeneration,
  );
}
