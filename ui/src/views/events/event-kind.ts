/** Kinds of events: their names without the object, as docs/events.md lists them. */
import type { ProcessedEvent } from '#documents/events.ts';

export const eventKinds = [
  'Add Pod',
  'Database Resync',
  'Delete Pod',
  'External Config Change',
  'External Config Resync',
  'Healing Resync',
  'Host Address Change',
  'Kubernetes State Change',
  'New Policy Tables',
  'Node IP Change',
  'Node Update',
  'Node-specific Configuration Change',
  'Pod CIDR Change',
  'Shutdown',
  'Verification Resync',
  'WireGuard Key Change',
  'WireGuard Session Change',
] as const;

/** `Add Pod` of `Add Pod default/web`; an unknown kind is its name. */
export function kindOf(name: string): string {
  return eventKinds.find((kind) => name === kind || name.startsWith(`${kind} `)) ?? name;
}

/** The object of an event whose name does not contain it: the key in etcd without the prefix of the agents. */
export function subjectOf({ Trace, IsFollowUp }: ProcessedEvent): string {
  const key = IsFollowUp ? undefined : Trace.Origin?.Key;
  return key?.replace(/^\/vnf-agent\/[^/]+\//, '') ?? '';
}
