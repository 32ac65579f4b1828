import type { Clock } from '#infra/clock/clock.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { EncryptionStatus } from '#plugins/ipv4net/encryption-status.ts';
import { podIdText } from '#plugins/podmanager/api.ts';
import type { Plugins } from '../plugins.ts';
import { someOf } from './some-of.ts';

/** A pod is attached before its address is in Kubernetes, on a busy node by some seconds. */
const REFLECTION_LIMIT_MS = 60_000;

export interface NodeProblemDeps extends Pick<Plugins, 'ipam' | 'ipv4net' | 'pods'> {
  readonly encryption: Pick<EncryptionStatus, 'problem'>;
  readonly kubeState: () => KubeState;
  readonly clock: Clock;
}

/** Causes for which new pods of this node do not work, or will not: the status names them, and nothing fails. */
export function registerNodeProblems(
  status: StatusCheck,
  { ipam, ipv4net, encryption, pods, kubeState, clock }: NodeProblemDeps,
): void {
  status.registerProblem('mtu', 'none', () => ipv4net.mtuProblem());
  status.registerProblem('source-nat', 'none', () => ipv4net.natProblem());
  status.registerProblem('encryption', 'none', () => encryption.problem());
  status.registerProblem('addresses', 'none', () => {
    const full = ipam.usage().filter(({ allocated, capacity }) => allocated >= capacity);
    if (full.length === 0) return undefined;
    const texts = full.map(
      ({ family, allocated, capacity }) => `IPv${family}: ${allocated} of ${capacity} are in use`,
    );
    return `no address is free for another pod: ${texts.join('; ')} (GET /contiv/v1/ipam/allocations)`;
  });
  status.registerProblem('reflector', 'none', () => {
    // Without etcd the records are those of the mirror: the component etcd says so.
    if (status.component('etcd').state !== 'ok') return undefined;
    const records = kubeState().get(resources.pod.keyword);
    const latest = clock.wallTime() - REFLECTION_LIMIT_MS;
    const missing = [...pods.attachments().values()]
      .filter(({ attachedAt = '' }) => Date.parse(attachedAt) < latest)
      .filter(({ pod }) => !records?.has(resources.pod.key(pod.name, pod.namespace)))
      .map(({ pod }) => podIdText(pod));
    return missing.length === 0
      ? undefined
      : `attached for more than a minute, and not in the records of contiv-ksr: ${someOf(missing.sort())}`;
  });
}
