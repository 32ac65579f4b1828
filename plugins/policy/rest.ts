/** REST of policies: which policies isolate each pod of this node, what they permit, and the ACLs that carry them. */
import type { Clock } from '#infra/clock/clock.ts';
import { NotFoundError, type Route } from '#infra/http/route.ts';
import { streamedJson, streamedList } from '#infra/http/streamed.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { formatAddress } from './address-set.ts';
import type { PolicyApi } from './api.ts';
import type { Isolation, PodName, PodPolicy, PolicyName } from './pod-policy.ts';

/** State of a value as the scheduler knows it. */
interface ValueState {
  readonly state: string;
  readonly error?: string;
}

export interface PolicyRoutesDeps {
  readonly policies: PolicyApi;
  readonly clock: Clock;
  readonly stateOf: (key: string) => ValueState;
  /** Reads the values from VPP, by key; those that VPP does not have are missing. */
  readonly readActual: (keys: ReadonlySet<string>) => Promise<ReadonlyMap<string, object>>;
}

/** A value that carries policies. */
interface CarryingValue extends ValueState {
  readonly key: string;
}

interface CarryingValueInFull extends CarryingValue {
  readonly desired: Value;
  /** As read from VPP; null if VPP does not have it. */
  readonly actual: object | null;
}

/** An entry of the list. */
interface PodSummary {
  readonly name: PodName;
  readonly attachment: AttachmentId;
  readonly addresses: readonly string[];
  /** Policies that isolate the pod, by direction. */
  readonly ingress: readonly PolicyName[];
  readonly egress: readonly PolicyName[];
  readonly values: readonly CarryingValue[];
}

interface PodDocument {
  readonly name: PodName;
  /** Renderer that carries the policies. */
  readonly renderer: string | null;
  /** More than one if a predecessor of the same name is not deleted yet. */
  readonly attachments: readonly AttachmentDocument[];
  /** Of the policies that isolate the pod. */
  readonly problems: Readonly<Record<PolicyName, readonly string[]>>;
  readonly limits: Readonly<Record<PolicyName, readonly string[]>>;
}

interface AttachmentDocument {
  readonly attachment: AttachmentId;
  readonly addresses: readonly string[];
  readonly ingress: IsolationDocument;
  readonly egress: IsolationDocument;
  readonly values: readonly CarryingValueInFull[];
}

interface IsolationDocument {
  /** Empty: everything is permitted. */
  readonly isolatedBy: readonly PolicyName[];
  readonly permits: readonly PermitDocument[];
}

interface PermitDocument {
  readonly policy: PolicyName;
  /** Position in the list of rules of the policy, from 0. */
  readonly rule: number;
  readonly peers: readonly string[];
  readonly ports: string;
}

export function policyRoutes(deps: PolicyRoutesDeps): Route[] {
  const { policies, clock } = deps;
  return [
    {
      method: 'GET',
      path: '/contiv/v1/policy/pods',
      mutating: false,
      summary: 'pods of this node: the policies that isolate them, and the state of their ACLs',
      handle: () => streamedList(summaries(deps), clock),
    },
    {
      method: 'GET',
      path: '/contiv/v1/policy/pods/:namespace/:name',
      mutating: false,
      summary:
        'one pod: what each rule of its policies permits; its ACLs, desired and read from VPP',
      async handle({ params }) {
        const name = `${params['namespace']}/${params['name']}`;
        const attached = [...policies.policies()].filter(([, { pod }]) => pod === name);
        if (attached.length === 0)
          throw new NotFoundError(`pod ${name} is not attached to the network of this node`);
        return streamedJson(await podDocument(deps, name, attached), clock);
      },
    },
  ];
}

function* summaries({ policies, stateOf }: PolicyRoutesDeps): Iterable<PodSummary> {
  const pods = [...policies.policies()].sort(([, a], [, b]) => (a.pod < b.pod ? -1 : 1));
  for (const [attachment, { pod, addresses, ingress, egress }] of pods)
    yield {
      name: pod,
      attachment,
      addresses: addresses.map(formatAddress),
      ingress: ingress.policies,
      egress: egress.policies,
      values: [...policies.valuesOf(attachment).keys()].map((key) => ({ key, ...stateOf(key) })),
    };
}

async function podDocument(
  deps: PolicyRoutesDeps,
  name: PodName,
  attached: readonly (readonly [AttachmentId, PodPolicy])[],
): Promise<PodDocument> {
  const { policies, readActual } = deps;
  const keys = attached.flatMap(([id]) => [...policies.valuesOf(id).keys()]);
  const actual = keys.length === 0 ? new Map() : await readActual(new Set(keys));
  const isolating = new Set(
    attached.flatMap(([, { ingress, egress }]) => [...ingress.policies, ...egress.policies]),
  );
  return {
    name,
    renderer: policies.rendererName() ?? null,
    attachments: attached.map(([id, policy]) => attachmentDocument(deps, id, policy, actual)),
    problems: ofPolicies(policies.policyProblems(), isolating),
    limits: ofPolicies(policies.limits(), isolating),
  };
}

function attachmentDocument(
  { policies, stateOf }: PolicyRoutesDeps,
  attachment: AttachmentId,
  { addresses, ingress, egress }: PodPolicy,
  actual: ReadonlyMap<string, object>,
): AttachmentDocument {
  return {
    attachment,
    addresses: addresses.map(formatAddress),
    ingress: isolationDocument(ingress),
    egress: isolationDocument(egress),
    values: [...policies.valuesOf(attachment)].map(([key, desired]) => ({
      key,
      ...stateOf(key),
      desired,
      actual: actual.get(key) ?? null,
    })),
  };
}

function isolationDocument({ policies, permits }: Isolation): IsolationDocument {
  return {
    isolatedBy: policies,
    permits: permits.map(({ policy, rule, peers, ports }) => ({
      policy,
      rule,
      peers: peers.prefixes(),
      ports: ports.text,
    })),
  };
}

function ofPolicies(
  texts: ReadonlyMap<PolicyName, readonly string[]>,
  policies: ReadonlySet<PolicyName>,
): Record<PolicyName, readonly string[]> {
  return Object.fromEntries([...texts].filter(([name]) => policies.has(name)));
}
