/** What the CNI service asks of the rest of the agent. */
import type { StatusCheck } from '#infra/status/status.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { CniState } from '#plugins/podmanager/cni-service.ts';

interface CniStateDeps {
  readonly status: StatusCheck;
  readonly scheduler: Scheduler;
  readonly ipam: IpamApi;
  readonly net: Ipv4NetApi;
}

/** Without these no pod can be attached. etcd is none of them: the mirror serves while it is away. */
const requiredComponents = ['controller', 'vpp'] as const;

export function cniState({ status, scheduler, ipam, net }: CniStateDeps): CniState {
  return {
    readiness: () => {
      const parts = requiredComponents.map((name) => ({ name, ...status.part(name) }));
      const lost = parts.find(({ state }) => state === 'error');
      const waiting = parts.find(({ state }) => state === 'init');
      if (lost)
        return { ready: false, limited: true, reason: lost.error ?? `${lost.name} is lost` };
      if (waiting)
        return { ready: false, limited: false, reason: `${waiting.name} is not in sync yet` };
      return { ready: true, limited: false, reason: '' };
    },
    // Before the first resync the node has no ID.
    podCidr: () =>
      status.part('controller').state === 'init' ? undefined : ipam.podSubnetThisNode(),
    addresses: (attachment) => ipam.podAddresses(attachment),
    faults: (attachment) => {
      const keys = net.podKeys(attachment);
      if (keys.length === 0) return ['nothing is configured for it'];
      return keys.flatMap((key) => {
        const { value, derived_values = [] } = scheduler.status(key);
        return [value, ...derived_values]
          .filter(({ state }) => !healthyStates.has(state))
          .map(({ key: one, state, error }) => `${one} is ${state}${error ? ` (${error})` : ''}`);
      });
    },
  };
}

const healthyStates: ReadonlySet<string> = new Set(['CONFIGURED', 'OBTAINED', 'DISCOVERED']);
