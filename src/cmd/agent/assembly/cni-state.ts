/** The state of the agent that the CNI service needs: readiness, addresses, failed values. */
import type { StatusCheck } from '#infra/status/status.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { NodeConfigGate } from '#plugins/contivconf/api.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { CniState } from '#plugins/podmanager/cni-service.ts';

interface CniStateDeps {
  readonly status: StatusCheck;
  readonly gate: NodeConfigGate;
  readonly scheduler: Scheduler;
  readonly ipam: EventHandler & IpamApi;
  readonly net: Ipv4NetApi;
  readonly host: HostPort;
}

/** Components without which no pod can be attached. Not etcd: the mirror replaces it in an outage. */
const requiredComponents = ['controller', 'vpp'] as const;

export function cniState({ status, gate, scheduler, ipam, net, host }: CniStateDeps): CniState {
  return {
    readiness: () => {
      const parts = requiredComponents.map((name) => status.component(name));
      const lost = parts.find(({ state }) => state === 'error');
      const waiting = parts.find(({ state }) => state === 'init');
      if (lost)
        return { ready: false, limited: true, reason: lost.error ?? `${lost.name} has failed` };
      if (waiting) {
        const reason = gate.missing?.message ?? `${waiting.name} has not resynced yet`;
        return { ready: false, limited: false, reason };
      }
      return { ready: true, limited: false, reason: '' };
    },
    startBlocked: () => gate.missing,
    podCidr: () => (ipam.state?.isKnown ? ipam.podSubnetThisNode() : undefined),
    addresses: (attachment) => ipam.podAddresses(attachment),
    faults: async (attachment) => {
      const keys = net.podKeys(attachment);
      if (keys.length === 0) return ['no value is configured for the attachment'];
      const faults = keys.flatMap((key) => {
        const { value, derived_values = [] } = scheduler.status(key);
        return [value, ...derived_values]
          .filter(({ state }) => !healthyStates.has(state))
          .map(({ key: one, state, error }) => `${one} is ${state}${error ? ` (${error})` : ''}`);
      });
      // what the scheduler knows to be wrong, it repeats or reports
      if (faults.length > 0) return faults;
      const { Differences, Unread } = await scheduler.drift(new Set(keys));
      return [
        ...Differences.map(
          ({ Key, Difference, Reason }) => `${Key} is ${Difference}${Reason ? ` (${Reason})` : ''}`,
        ),
        ...Unread.map(({ Descriptor, Error: text }) => `cannot read ${Descriptor}: ${text}`),
      ];
    },
    namespaceIdentity: (path) => host.namespaceIdentity(path),
  };
}

const healthyStates: ReadonlySet<string> = new Set(['CONFIGURED', 'OBTAINED', 'DISCOVERED']);
