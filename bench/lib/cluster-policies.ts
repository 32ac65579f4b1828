/** Policies of a cluster as administrators have them, for benchmarks, over the namespaces and labels of `PolicyCluster`. */
import {
  type ClusterNetworkPolicy,
  type ClusterNetworkPolicyRule,
  clusterNetworkPolicyModel,
} from '#kubernetes/models/cluster-network-policy.ts';
import type { DeepInput } from '#models/model.ts';

const TEAMS = 8;

type Rule = DeepInput<ClusterNetworkPolicyRule>;

/** Tenants that leave what is theirs to NetworkPolicies, exceptions for services of all, denied networks, and defaults. */
export function clusterPolicies(count: number): ClusterNetworkPolicy[] {
  return Array.from({ length: count }, (_, at) =>
    clusterNetworkPolicyModel.canonical({
      name: `cluster-${at}`,
      tier: at % 5 === 4 ? 'BASELINE' : 'ADMIN',
      priority: at * 10,
      subject: { pods: {}, namespaces: at % 5 < 2 ? team(at) : {} },
      ...rulesOf(at),
    }),
  );
}

function rulesOf(at: number): { readonly ingress: Rule[]; readonly egress: Rule[] } {
  const own = { pods: { pods: {}, namespaces: team(at) } };
  const app = { pods: { pods: labels({ app: `app-${at % 25}` }), namespaces: {} } };
  const tcp = (first: number, last = first) => [{ protocol: 'TCP' as const, first, last }];
  switch (at % 5) {
    case 0:
      return {
        ingress: [
          { action: 'PASS', peer: [own] },
          { action: 'DENY', peer: [app], port: tcp(9000, 9100) },
        ],
        egress: [{ action: 'PASS', peer: [own] }],
      };
    case 1:
      return { ingress: [{ action: 'ACCEPT', peer: [app], port: tcp(9090) }], egress: [] };
    case 2:
      return { ingress: [], egress: [{ action: 'ACCEPT', peer: [app], port: tcp(53) }] };
    case 3:
      return {
        ingress: [],
        egress: [{ action: 'DENY', peer: [{ networks: { cidr: [`203.0.${at}.0/24`] } }] }],
      };
    default:
      return {
        ingress: [{ action: 'DENY', peer: [app], port: tcp(7000 + at) }],
        egress: [{ action: 'DENY', peer: [app], port: tcp(7000 + at) }],
      };
  }
}

function team(at: number) {
  return labels({ team: `${at % TEAMS}` });
}

function labels(all: Readonly<Record<string, string>>) {
  return { match_label: Object.entries(all).map(([key, value]) => ({ key, value })) };
}
