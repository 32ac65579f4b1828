/** REST of policies: which policies apply to each pod of this node, their rules, and the ACLs that carry them. */
import {
  type PolicyAttachment,
  PolicyPodDocument,
  PolicyPodList,
  type PolicyPodSummary,
  type RuleList as RuleListDocument,
} from '#documents/policies.ts';
import type { ValueState } from '#documents/value-states.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { NotFoundError, type Route } from '#infra/http/route.ts';
import { streamedJson, streamedList } from '#infra/http/streamed.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { formatAddress } from './address-set.ts';
import type { PolicyApi } from './api.ts';
import { ruleDocument } from './connectivity/rule-document.ts';
import type { PodName, PodPolicy, PolicyDirection, PolicyName, RuleList } from './pod-policy.ts';

export interface PolicyRoutesDeps {
  readonly policies: PolicyApi;
  readonly clock: Clock;
  readonly stateOf: (key: string) => Pick<ValueState, 'state' | 'error'>;
  /** Reads the values from VPP, by key; those that VPP does not have are missing. */
  readonly readActual: (keys: ReadonlySet<string>) => Promise<ReadonlyMap<string, object>>;
}

export function policyRoutes(deps: PolicyRoutesDeps): Route[] {
  const { policies, clock } = deps;
  return [
    {
      method: 'GET',
      path: '/contiv/v1/policy/pods',
      mutating: false,
      summary: 'pods of this node: the policies that apply to them, and the state of their ACLs',
      reply: PolicyPodList,
      handle: () => streamedList(summaries(deps), clock),
    },
    {
      method: 'GET',
      path: '/contiv/v1/policy/pods/:namespace/:name',
      mutating: false,
      summary:
        'one pod: the rules of its policies in the order in which they decide; its ACLs, desired and read from VPP',
      reply: PolicyPodDocument,
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

function* summaries({ policies, stateOf }: PolicyRoutesDeps): Iterable<PolicyPodSummary> {
  const notAsDefined = policies.notAsDefined();
  const pods = [...policies.policies()].sort(([, a], [, b]) => (a.pod < b.pod ? -1 : 1));
  for (const [attachment, { pod, addresses, ingress, egress }] of pods)
    yield {
      name: pod,
      attachment,
      addresses: addresses.map(formatAddress),
      ingress: ingress.policies,
      egress: egress.policies,
      notAsDefined: notAsDefined.filter(
        (policy) => ingress.policies.includes(policy) || egress.policies.includes(policy),
      ),
      values: [...policies.valuesOf(attachment).keys()].map((key) => ({ key, ...stateOf(key) })),
    };
}

async function podDocument(
  deps: PolicyRoutesDeps,
  name: PodName,
  attached: readonly (readonly [AttachmentId, PodPolicy])[],
): Promise<PolicyPodDocument> {
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
): PolicyAttachment {
  return {
    attachment,
    addresses: addresses.map(formatAddress),
    ingress: listDocument(ingress, 'ingress'),
    egress: listDocument(egress, 'egress'),
    values: [...policies.valuesOf(attachment)].map(([key, desired]) => ({
      key,
      ...stateOf(key),
      desired,
      actual: actual.get(key) ?? null,
    })),
  };
}

function listDocument({ policies, rules }: RuleList, direction: PolicyDirection): RuleListDocument {
  return {
    policies,
    rules: rules.map((rule) => ({
      ...ruleDocument(rule, direction),
      peers: rule.peers.prefixes(),
      ports: rule.ports.text,
    })),
  };
}

function ofPolicies(
  texts: ReadonlyMap<PolicyName, readonly string[]>,
  policies: ReadonlySet<PolicyName>,
): Record<PolicyName, readonly string[]> {
  return Object.fromEntries([...texts].filter(([name]) => policies.has(name)));
}
