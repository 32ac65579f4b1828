import type { PermissionUse, SeenEnd, SeenPair } from '#documents/flow-policies.ts';
import type { FlowEnd } from '#documents/flows.ts';
import { workloadOf } from '#flows/workload.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { type AddressNumber, addressNumber } from '#plugins/policy/address-set.ts';
import type { ClusterPolicies } from '#plugins/policy/connectivity/cluster-policies.ts';
import type { PodPolicy, PolicyDirection } from '#plugins/policy/pod-policy.ts';
import { PortSet } from '#plugins/policy/port-set.ts';
import type { SeenConnection } from './seen-connections.ts';

/** Set by controllers: pods of the next version of a workload have other ones. */
const CONTROLLER_LABELS =
  /^(pod-template-hash|controller-revision-hash|job-name|controller-uid|apps\.kubernetes\.io\/pod-index|batch\.kubernetes\.io\/.*|statefulset\.kubernetes\.io\/.*)$/;

interface Counted {
  readonly pair: Omit<SeenPair, 'connections'>;
  connections: number;
}

/** Workloads that connect, and the rules of NetworkPolicies that permit it, of one namespace or all. */
export class UsedPermissions {
  readonly #kube: KubeState;
  readonly #cluster: ClusterPolicies;
  readonly #namespace: string | undefined;
  readonly #labels = new Map<string, Record<string, string>>();
  readonly #pairs = new Map<string, Counted>();
  readonly #uses = new Map<string, number>();

  constructor(kube: KubeState, cluster: ClusterPolicies, namespace: string | undefined) {
    this.#kube = kube;
    this.#cluster = cluster;
    this.#namespace = namespace;
    for (const pod of (kube.get(resources.pod.keyword)?.values() ?? []) as Iterable<Pod>)
      this.#addLabels(pod);
  }

  add({ flow: { client, server }, from, to, protocol, port }: SeenConnection): void {
    const ends = [client, server].map((end) => this.#end(end));
    const [source, destination] = ends as [SeenEnd, SeenEnd];
    if (!ends.some((end) => this.#isAsked(end))) return;
    // a node has several addresses
    const key = `${source.name} ${source.address} ${destination.name} ${destination.address} ${protocol} ${port}`;
    const known = this.#pairs.get(key);
    if (known) known.connections++;
    else
      this.#pairs.set(key, {
        pair: { client: source, server: destination, protocol, port },
        connections: 1,
      });
    const asked = PortSet.of([{ protocol, first: port, last: port }]);
    this.#use('egress', from, to, asked);
    this.#use('ingress', to, from, asked);
  }

  pairs(): SeenPair[] {
    return Array.from(this.#pairs.values(), ({ pair, connections }) => ({ ...pair, connections }));
  }

  /** Of all rules, also of those that nothing uses. */
  permissions(): PermissionUse[] {
    const policies = [...(this.#kube.get(resources.policy.keyword)?.values() ?? [])] as Policy[];
    return policies
      .filter(({ namespace }) => this.#namespace === undefined || namespace === this.#namespace)
      .flatMap(({ namespace, name, ingress_rule, egress_rule }) =>
        (
          [
            ['ingress', ingress_rule],
            ['egress', egress_rule],
          ] as const
        ).flatMap(([direction, rules]) =>
          rules.map((_, rule) => {
            const policy = `${namespace}/${name}`;
            const connections = this.#uses.get(useKey(policy, direction, rule)) ?? 0;
            return { policy, direction, rule, connections };
          }),
        ),
      );
  }

  /** Of one direction of a pod: each rule that permits it, although the first one decides. */
  #use(direction: PolicyDirection, own: string, other: string, asked: PortSet): void {
    const list = this.#cluster.pods.get(own)?.policy[direction];
    if (!list) return;
    const addresses = this.#addressesOf(other);
    const found = new Set<string>();
    for (const { tier, action, policy, rule, peers, ports } of list.rules)
      if (
        tier === 'NetworkPolicy' &&
        action === 'Accept' &&
        rule !== undefined &&
        addresses.some((address) => peers.has(address)) &&
        !ports.intersect(asked).isEmpty
      )
        found.add(useKey(policy, direction, rule));
    for (const key of found) this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
  }

  #addressesOf(name: string): PodPolicy['addresses'] {
    const address: AddressNumber | undefined = addressNumber(name);
    if (address !== undefined) return [address];
    return this.#cluster.pods.get(name)?.policy.addresses ?? [];
  }

  #end({ kind, name, workload, address }: FlowEnd): SeenEnd {
    if (kind === 'pod')
      return { kind, name: workload, address: '', labels: this.#labels.get(workload) ?? {} };
    return kind === 'node'
      ? { kind, name, address, labels: {} }
      : { kind: 'outside', name: address, address, labels: {} };
  }

  #isAsked({ kind, name }: SeenEnd): boolean {
    return (
      kind === 'pod' && (this.#namespace === undefined || name.startsWith(`${this.#namespace}/`))
    );
  }

  /** Labels that all pods of a workload have. */
  #addLabels(pod: Pod): void {
    const workload = workloadOf(pod);
    const own = Object.entries(pod.labels).filter(([key]) => !CONTROLLER_LABELS.test(key));
    const known = this.#labels.get(workload);
    const common = known ? own.filter(([key, value]) => known[key] === value) : own;
    this.#labels.set(workload, Object.fromEntries(common));
  }
}

function useKey(policy: string, direction: PolicyDirection, rule: number): string {
  return `${policy} ${direction} ${rule}`;
}
