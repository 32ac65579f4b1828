/** The pods of a cluster that policies can concern, from their records. */
import type { UnlistedPod } from '#documents/connectivity.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { type AddressNumber, addressNumber } from '../address-set.ts';
import type { PodName } from '../pod-policy.ts';
import type { AttachedPod } from '../processor/policy-processor.ts';
import type { ClusterPod, PodOwner } from './cluster-policies.ts';

export interface ClusterPods {
  readonly pods: ReadonlyMap<PodName, ClusterPod>;
  readonly unlisted: readonly UnlistedPod[];
}

/**
 * @param local the attached pods of this node: their records may be older, or missing
 */
export async function clusterPods(
  kube: KubeState,
  local: ReadonlyMap<PodName, AttachedPod>,
  slices: Slices,
): Promise<ClusterPods> {
  const pods = new Map<PodName, ClusterPod>();
  for (const [pod, { addresses, podUid }] of local)
    if (addresses.length > 0) pods.set(pod, { addresses, uid: podUid, owner: undefined });
  const unlisted: UnlistedPod[] = [];
  const byAddress = new Map<AddressNumber, PodName>();
  for (const [pod, { addresses }] of local)
    for (const address of addresses) setOwner(byAddress, address, pod);
  for (const record of (kube.get('pod')?.values() ?? []) as Iterable<Pod>) {
    if (slices.due()) await slices.turn();
    const pod = `${record.namespace}/${record.name}`;
    const attached = local.get(pod);
    const addresses = attached?.addresses ?? addressesOf(record);
    const reason = whyUnlisted(record, pod, addresses, byAddress);
    if (reason !== undefined) unlisted.push({ pod, reason });
    else {
      for (const address of addresses) setOwner(byAddress, address, pod);
      const uid = attached === undefined ? record.uid || undefined : attached.podUid;
      pods.set(pod, { addresses, uid, owner: ownerOf(record) });
    }
  }
  return { pods, unlisted };
}

function whyUnlisted(
  { ip_address, host_ip_address }: Pod,
  pod: PodName,
  addresses: readonly string[],
  byAddress: ReadonlyMap<AddressNumber, PodName>,
): string | undefined {
  if (addresses.length === 0) return 'it has no address yet';
  if (ip_address !== '' && ip_address === host_ip_address)
    return 'it is in the network of its host, where no policy applies';
  for (const address of addresses) {
    const number = addressNumber(address);
    if (number === undefined) return `its address ${address} is invalid`;
    const other = byAddress.get(number);
    if (other !== undefined && other !== pod) return `${other} has its address ${address}, too`;
  }
  return undefined;
}

function setOwner(owners: Map<AddressNumber, PodName>, address: string, pod: PodName): void {
  const number = addressNumber(address);
  if (number !== undefined) owners.set(number, pod);
}

function addressesOf({ ip_address, ip_addresses }: Pod): string[] {
  return [...new Set([ip_address, ...ip_addresses])].filter((address) => address !== '');
}

/**
 * Records do not contain the owner, but the controllers of Kubernetes set labels by which it is known. undefined: a
 * pod without owner, or with that of an unknown controller.
 */
function ownerOf({ name, labels }: Pod): PodOwner | undefined {
  const job = labels['batch.kubernetes.io/job-name'] ?? labels['job-name'];
  if (job !== undefined) return { kind: 'Job', name: job };
  if (labels['statefulset.kubernetes.io/pod-name'] === name)
    return { kind: 'StatefulSet', name: name.replace(/-\d+$/, '') };
  const template = labels['pod-template-hash'];
  const deployment = template === undefined ? -1 : name.lastIndexOf(`-${template}-`);
  if (deployment > 0) return { kind: 'Deployment', name: name.slice(0, deployment) };
  const daemon = /^(.+)-[a-z0-9]{5}$/.exec(name)?.[1];
  if (labels['controller-revision-hash'] !== undefined && daemon !== undefined)
    return { kind: 'DaemonSet', name: daemon };
  return undefined;
}
