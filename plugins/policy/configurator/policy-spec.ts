/** A network policy, checked and compiled. What is invalid permits nothing, and is reported. */
import { closedPolicies } from '#kubernetes/models/closed-policy.ts';
import type {
  Policy,
  PolicyEgressRule,
  PolicyIngressRule,
  PolicyLabelSelector,
} from '#kubernetes/models/policy.ts';
import { LabelSelector } from '../cache/label-selector.ts';
import type { PodSelector } from '../cache/selector-index.ts';
import type { PolicyDirection, PolicyName, PolicyTier, RuleAction } from '../pod-policy.ts';
import { type PeersSpec, peersSpec } from './peers-spec.ts';
import { type PortsSpec, portsSpec } from './ports-spec.ts';

export interface PolicySpec extends PodSelector {
  readonly name: PolicyName;
  readonly tier: PolicyTier;
  /** Within its tier; the lowest decides first, then the name. */
  readonly priority: number;
  /** Directions in which it denies the pods that it selects what no policy of its tier accepts. */
  readonly isolates: Readonly<Record<PolicyDirection, boolean>>;
  readonly ingress: readonly RuleSpec[];
  readonly egress: readonly RuleSpec[];
  /** In sentences for operators. */
  readonly problems: readonly string[];
}

export interface RuleSpec {
  readonly direction: PolicyDirection;
  /** Position in the list of the policy. */
  readonly index: number;
  readonly name?: string;
  readonly action: RuleAction;
  readonly peers: PeersSpec;
  readonly ports: PortsSpec;
}

export function policySpec(name: string, namespace: string, record: Policy): PolicySpec {
  const unreadable = closedPolicies.unreadableParts(record);
  const problems = unreadable === undefined ? [] : [`it cannot be read as a whole: ${unreadable}`];
  const { policy_type: type, ingress_rule: ingress, egress_rule: egress } = record;
  const isolates = {
    ingress: type !== 'EGRESS',
    egress:
      type === 'EGRESS' ||
      type === 'INGRESS_AND_EGRESS' ||
      (type === 'DEFAULT' && egress.length > 0),
  };
  const pods = subject(record.pods, (problem) =>
    problems.push(
      `its selector of pods is invalid: ${problem}; it isolates all pods of its namespace`,
    ),
  );
  const hasSubject = pods !== undefined;
  return {
    name: `${namespace}/${name}`,
    tier: 'NetworkPolicy',
    priority: 0,
    namespaces: namespace,
    pods: pods ?? LabelSelector.everything,
    isolates,
    ingress:
      hasSubject && isolates.ingress
        ? ingress.map((rule, at) => ruleSpec('ingress', at, rule, rule.from, namespace, problems))
        : [],
    egress:
      hasSubject && isolates.egress
        ? egress.map((rule, at) => ruleSpec('egress', at, rule, rule.to, namespace, problems))
        : [],
    problems,
  };
}

/** An absent selector selects all pods: the stricter reading. */
function subject(
  record: PolicyLabelSelector | undefined,
  report: (problem: string) => void,
): LabelSelector | undefined {
  return record === undefined ? LabelSelector.everything : LabelSelector.of(record, report);
}

function ruleSpec(
  direction: PolicyDirection,
  index: number,
  { port: ports }: PolicyIngressRule | PolicyEgressRule,
  peers: Parameters<typeof peersSpec>[0],
  namespace: string,
  problems: string[],
): RuleSpec {
  const report = (problem: string) => problems.push(`${direction} rule ${index}: ${problem}`);
  const portSpec = portsSpec(ports, report);
  const names = direction === 'egress' ? portSpec.names : [];
  return {
    direction,
    index,
    action: 'Accept',
    ports: portSpec,
    peers: peersSpec(peers, namespace, names, report),
  };
}
