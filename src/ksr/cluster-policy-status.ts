/**
 * Two conditions of ClusterNetworkPolicies. `Accepted` says whether all of the policy is carried to the nodes, or which rules fail
 * closed: it follows from the object alone. `Enforced` says whether all nodes enforce it, which do not, and why. An object costs
 * a write for each of its contents, and at most one in ten seconds for what changes on nodes, however many there are.
 */
import { errorText } from '#infra/errors/errors.ts';
import { clusterPolicyRemarks } from '#kubernetes/reflector/cluster-network-policy.ts';
import type { KubeObject } from '#kubernetes/reflector/objects/object.ts';
import type { ObjectName } from './api-server/api.ts';
import type { Condition, ConditionContent, ConditionStatus } from './condition.ts';
import type { ClusterEnforcement } from './policy-enforcement/cluster-enforcement.ts';
import { enforcedCondition } from './policy-enforcement/enforced-condition.ts';
import { readKubeObject } from './records/kube-object.ts';
import type { RecordTexts } from './records/record-text.ts';
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
const ACCEPTED = 'Accepted';
/** Of a message; that of the API. */
const MAX_MESSAGE = 32_768;

interface PolicyObject extends StatusObject {
  readonly accepted: ConditionContent;
  readonly generation: number;
  /** Of the record that it has to have; undefined: it has none. */
  readonly text: string | undefined;
  /** In the API server, of all writers. */
  readonly conditions: readonly Condition[];
}

export interface ClusterPolicyStatusDeps extends StatusWriterDeps {
  readonly texts: RecordTexts;
  readonly enforcement: ClusterEnforcement;
}

/** The work of one leadership. */
export class ClusterPolicyStatusWriter implements StatusKind<PolicyObject> {
  readonly kind = TYPE.kind;
  readonly paths = clusterPolicyPaths;
  readonly #deps: ClusterPolicyStatusDeps;
  readonly #writer: StatusWriter<PolicyObject>;

  constructor(deps: ClusterPolicyStatusDeps) {
    this.#deps = deps;
    this.#writer = new StatusWriter(deps, this);
  }

  start(): void {
    this.#deps.enforcement.start(() => {
      for (const one of this.#writer.objects.values()) this.#writer.reopen(one);
    });
    this.#writer.start();
  }

  async close(): Promise<void> {
    this.#deps.enforcement.close();
    await this.#writer.close();
  }

  /** How many policies are enforced, are not, and may be. */
  counts(): Readonly<Record<ConditionStatus, number>> {
    const counts = { True: 0, False: 0, Unknown: 0 };
    for (const one of this.#writer.objects.values())
      counts[this.#enforced(one)?.status ?? 'Unknown']++;
    return counts;
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
      accepted: acceptedCondition(problems),
      generation: metadata.generation ?? 0,
      text: this.#textOf(name, object, rejection),
      conditions: status?.conditions ?? [],
    };
  }

  /** A merge patch replaces the whole list, so it has the conditions of other writers, too. */
  statusOf(one: PolicyObject): object | 'shown' {
    const { accepted, generation: observedGeneration, conditions } = one;
    const enforced = this.#enforced(one);
    const wanted = [accepted, ...(enforced ? [enforced] : [])].map((content): Condition => {
      return { ...content, observedGeneration };
    });
    if (wanted.every((condition) => isShown(condition, conditions))) return 'shown';
    const others = conditions.filter(({ type }) => wanted.every((own) => own.type !== type));
    const now = new Date(this.#deps.clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      conditions: [
        ...others,
        ...wanted.map((condition) => {
          const before = conditions.find(({ type }) => type === condition.type);
          const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
          return { ...condition, lastTransitionTime: since ?? now };
        }),
      ],
    };
  }

  /** No other policy has to do with it. */
  changed(): void {}

  /** undefined: it is not known yet, what the object has stays. */
  #enforced({ name, text }: PolicyObject): ConditionContent | undefined {
    const enforcement = text === undefined ? undefined : this.#deps.enforcement.of(name.name, text);
    return enforcement && enforcedCondition(enforcement);
  }

  /** As the reflector writes it. */
  #textOf(name: ObjectName, object: KubeObject | undefined, rejection: string): string | undefined {
    const { texts } = this.#deps;
    if (object === undefined) return texts.closed(name, rejection)?.text;
    try {
      return texts.of(object)?.text;
    } catch (thrown) {
      return texts.closed(name, errorText(thrown))?.text;
    }
  }
}

function acceptedCondition(problems: readonly string[]): ConditionContent {
  const isWhole = problems.length === 0;
  return {
    type: ACCEPTED,
    status: isWhole ? 'True' : 'False',
    reason: isWhole ? 'AllRulesSupported' : 'RulesFailClosed',
    message: isWhole
      ? 'all rules are carried to the nodes'
      : `rules that accept do not match, those that deny or pass deny all: ${problems.join('; ')}`.slice(
          0,
          MAX_MESSAGE,
        ),
  };
}

function isShown(wanted: Condition, conditions: readonly Condition[]): boolean {
  return conditions.some(
    ({ type, status, reason, message, observedGeneration }) =>
      type === wanted.type &&
      status === wanted.status &&
      reason === wanted.reason &&
      message === wanted.message &&
      observedGeneration === wanted.observedGeneration,
  );
}
