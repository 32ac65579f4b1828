/** A cluster with network policies, for benchmarks: the same for the same size. */
import { seededRandom } from '#infra/clock/manual.ts';
import { namespaceModel } from '#kubernetes/models/namespace.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import { type Policy, type PolicyPeer, policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';

const NAMESPACES = 40;
const APPS = 25;
const PODS_OF_NODE = 100;

/** Records by resource and key. */
export type Records = Map<string, Map<string, object>>;

export class PolicyCluster {
  readonly pods: readonly Pod[];
  readonly policies: readonly Policy[];

  /** A hundred pods are on each node, and node 1 is this one. */
  constructor(size: { readonly pods: number; readonly policies: number }) {
    const random = seededRandom(1);
    const pick = (count: number) => Math.floor(random.next() * count);
    this.pods = Array.from({ length: size.pods }, (_, at) =>
      podOf(at, pick(NAMESPACES), `app-${pick(APPS)}`),
    );
    this.policies = Array.from({ length: size.policies }, (_, at) =>
      policyOf(at % NAMESPACES, Math.floor(at / NAMESPACES)),
    );
  }

  /** The pods of this node by the ID of their attachment. */
  attachments(): Map<string, AttachedPod> {
    return new Map(
      this.pods
        .slice(0, PODS_OF_NODE)
        .map(({ name, namespace, uid, ip_address: address }) => [
          `${name}/eth0`,
          { pod: `${namespace}/${name}`, podUid: uid, addresses: [address] },
        ]),
    );
  }

  records(): Records {
    const namespaces = Array.from({ length: NAMESPACES }, (_, at) => namespaceOf(at));
    return new Map([
      ['namespace', new Map(namespaces.map((one) => [resources.namespace.key(one.name, ''), one]))],
      ['pod', new Map(this.pods.map((one) => [podKeyOf(one), one]))],
      ['policy', new Map(this.policies.map((one) => [policyKeyOf(one), one]))],
    ]);
  }
}

export function podKeyOf({ name, namespace }: Pod): string {
  return resources.pod.key(name, namespace);
}

export function policyKeyOf({ name, namespace }: Policy): string {
  return resources.policy.key(name, namespace);
}

/** @param team undefined: the label is that of the number */
export function namespaceOf(at: number, team = `${at % 8}`) {
  return namespaceModel.canonical({
    name: `team-${at}`,
    label: labels({ team, 'kubernetes.io/metadata.name': `team-${at}` }),
  });
}

export function podOf(at: number, namespace: number, app: string): Pod {
  const node = 1 + Math.floor(at / PODS_OF_NODE);
  const all = { app, tier: at % 3 === 0 ? 'front' : 'back', 'pod-template-hash': `h${at >> 2}` };
  return podModel.canonical({
    name: `pod-${at}`,
    namespace: `team-${namespace}`,
    label: labels(all),
    labels: all,
    uid: `uid-${at}`,
    ip_address: `10.${64 + (node >> 8)}.${node & 255}.${2 + (at % PODS_OF_NODE)}`,
    host_ip_address: `172.16.${node >> 8}.${node & 255}`,
    container: [{ name: 'main', port: [{ name: 'http', container_port: 8080 + (at % 2) }] }],
  });
}

/** In each namespace: the first ones are for all pods, the others for those of one app. */
function policyOf(namespace: number, at: number): Policy {
  const names = { name: `policy-${at}`, namespace: `team-${namespace}` };
  if (at === 0)
    return policyModel.canonical({ ...names, pods: {}, policy_type: 'INGRESS_AND_EGRESS' });
  if (at === 1)
    return policyModel.canonical({
      ...names,
      pods: {},
      policy_type: 'EGRESS',
      egress_rule: [
        {
          to: [inNamespaces({ app: 'app-0' }, { 'kubernetes.io/metadata.name': 'team-0' })],
          port: [
            { protocol: 'UDP', port: { number: 53 } },
            { protocol: 'TCP', port: { number: 53 } },
          ],
        },
      ],
    });
  return policyModel.canonical({
    ...names,
    pods: selector({ app: `app-${at}` }),
    policy_type: 'INGRESS_AND_EGRESS',
    ingress_rule: [
      {
        from: [
          { pods: selector({ app: `app-${(at + 1) % APPS}` }) },
          { namespaces: selector({ team: `${at % 8}` }) },
        ],
        port: [{ port: { number: 8080 } }, { port: { type: 'NAME', name: 'http' } }],
      },
      {
        from: [{ ip_block: { cidr: '198.51.0.0/16', except: [`198.51.${at}.0/24`] } }],
        port: [{ port: { number: 443 } }],
      },
    ],
    egress_rule: [
      {
        to: [inNamespaces({ app: `app-${(at + 2) % APPS}`, tier: 'back' }, { team: `${at % 8}` })],
        port: [
          { port: { number: 8000 }, end_port: 8100 },
          { port: { type: 'NAME', name: 'http' } },
        ],
      },
    ],
  });
}

function inNamespaces(
  pods: Readonly<Record<string, string>>,
  namespaces: Readonly<Record<string, string>>,
): DeepInput<PolicyPeer> {
  return { pods_in_namespaces: { pods: selector(pods), namespaces: selector(namespaces) } };
}

function selector(all: Readonly<Record<string, string>>) {
  return { match_label: labels(all) };
}

function labels(all: Readonly<Record<string, string>>) {
  return Object.entries(all).map(([key, value]) => ({ key, value }));
}
