/** The parts of this node that the packet trace reads. */
import type { NodeSnapshotDeps } from '../node-snapshot.ts';
import type { PartDeps } from './agent-part.ts';
import type { Control } from './control.ts';
import type { Scheduling } from './scheduling.ts';
import type { Southbound } from './southbound.ts';

export function tracedNode(
  { settings: { label }, environment }: Pick<PartDeps, 'settings' | 'environment'>,
  { vpp }: Pick<Southbound, 'vpp'>,
  { scheduler }: Pick<Scheduling, 'scheduler'>,
  { plugins }: Pick<Control, 'plugins'>,
): NodeSnapshotDeps {
  const { ipam, ipv4net: net, services, policies } = plugins;
  return {
    label,
    scheduler,
    ipam,
    net,
    policies,
    services,
    client: vpp.client,
    linux: environment.linux,
    hasSocketServices: environment.socketTable !== undefined,
  };
}
