/** Size and timeouts of NAT44's session table, and the workers that have one. */
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { SessionSettings } from '#models/vpp/nat.gen.ts';
import type { Nat44Global } from '#models/vpp/nat44-global.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { Nat44ShowRunningConfigReply, NatWorkerDetails } from '../../binapi/messages.gen.ts';

type Numbers = Omit<SessionSettings, 'several_workers' | 'table_limits'>;

/** Of VPP; the same in all releases. */
const defaults: Numbers = {
  max_sessions: 63 * 1024,
  udp_timeout: 300,
  tcp_established_timeout: 7440,
  tcp_transitory_timeout: 240,
  icmp_timeout: 60,
};

const fields = Object.keys(defaults) as (keyof Numbers)[];

/** VPP allocates the whole table at once, 380 bytes for each session and thread, and ends if it cannot. */
const MAX_TABLE_SIZE = 1024 * 1024;

/** As VPP has them: with its defaults. */
function effective({ sessions }: Nat44Global): Numbers {
  if (sessions === undefined) return defaults;
  return mapFields((field) => sessions[field] || defaults[field]);
}

function mapFields(choose: (field: keyof Numbers) => number): Numbers {
  return Object.fromEntries(
    fields.map((field) => [field, choose(field)] as const),
  ) as unknown as Numbers;
}

/** Whether a change from one to the other keeps the tables with their sessions. */
export function sameTables(a: Nat44Global, b: Nat44Global): boolean {
  return (
    effective(a).max_sessions === effective(b).max_sessions &&
    (a.sessions?.several_workers ?? false) === (b.sessions?.several_workers ?? false)
  );
}

export function sameTimeouts(a: Nat44Global, b: Nat44Global): boolean {
  const [one, other] = [effective(a), effective(b)];
  return fields.every((field) => field === 'max_sessions' || one[field] === other[field]);
}

export function hasDefaultTimeouts(value: Nat44Global): boolean {
  return sameTimeouts(value, {
    ...value,
    sessions: { ...defaults, several_workers: false, table_limits: [] },
  });
}

/**
 * Of several workers, only the first translates. A client reaches only the backends of its own worker, and
 * when an in-place change leaves it without one, VPP crashes. A mapping keeps the workers that translate
 * when it is added, and VPP keeps them while NAT44 is disabled.
 */
export async function useOneWorker(
  client: VppClient,
  workers: readonly NatWorkerDetails[],
): Promise<void> {
  if (workers.length < 2) return;
  await client.request('nat_set_workers', { worker_mask: 1n });
}

/** Those that translate; empty if VPP has fewer than two. */
export function readWorkers(client: VppClient): Promise<readonly NatWorkerDetails[]> {
  return client.dump('nat_worker_dump', {});
}

export function setTimeouts(client: VppClient, value: Nat44Global): Promise<unknown> {
  const settings = effective(value);
  return client.request('nat_set_timeouts', {
    udp: settings.udp_timeout,
    tcp_established: settings.tcp_established_timeout,
    tcp_transitory: settings.tcp_transitory_timeout,
    icmp: settings.icmp_timeout,
  });
}

/**
 * The settings that VPP has, spelled as they are desired: a default is 0, and nothing at all if all are
 * defaults and none is desired. Without the limits of tables, which are read by themselves.
 */
export function settingsOf(
  { sessions, timeouts }: Nat44ShowRunningConfigReply,
  several_workers: boolean,
  desired: Nat44Global | undefined,
): SessionSettings | undefined {
  const found: Numbers = {
    max_sessions: sessions,
    udp_timeout: timeouts.udp,
    tcp_established_timeout: timeouts.tcp_established,
    tcp_transitory_timeout: timeouts.tcp_transitory,
    icmp_timeout: timeouts.icmp,
  };
  const asked = desired?.sessions;
  const settings = mapFields((field) => {
    if (asked?.[field] === found[field]) return found[field];
    return found[field] === defaults[field] ? 0 : found[field];
  });
  const isDefault = !several_workers && fields.every((field) => settings[field] === 0);
  if (isDefault && asked === undefined) return undefined;
  return { ...settings, several_workers, table_limits: [] };
}

export function validateSettings(key: string, { sessions }: Nat44Global): void {
  const size = sessions?.max_sessions ?? 0;
  const reason = `more than ${MAX_TABLE_SIZE} sessions may not fit the heap of VPP, which would end`;
  checkField(key, size <= MAX_TABLE_SIZE, 'sessions.max_sessions', reason);
  const crash = 'not supported: VPP crashes when backends of one service are on several workers';
  checkField(key, sessions?.several_workers !== true, 'sessions.several_workers', crash);
  const vrfs = sessions?.table_limits.map(({ vrf_id }) => vrf_id) ?? [];
  const twice = 'a table is listed twice';
  checkField(key, new Set(vrfs).size === vrfs.length, 'sessions.table_limits', twice);
}
