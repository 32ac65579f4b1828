/** Size and timeouts of NAT44's session table. */
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { SessionSettings } from '#models/vpp/nat.gen.ts';
import type { Nat44Global } from '#models/vpp/nat44-global.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { Nat44ShowRunningConfigReply } from '../../binapi/messages.gen.ts';

/** Of VPP; the same in all releases. */
const defaults: SessionSettings = {
  max_sessions: 63 * 1024,
  udp_timeout: 300,
  tcp_established_timeout: 7440,
  tcp_transitory_timeout: 240,
  icmp_timeout: 60,
};

const fields = Object.keys(defaults) as (keyof SessionSettings)[];

/** VPP allocates the whole table at once, 380 bytes for each session and thread, and ends if it cannot. */
const MAX_TABLE_SIZE = 1024 * 1024;

/** As VPP has them: with its defaults. */
function effective({ sessions }: Nat44Global): SessionSettings {
  if (sessions === undefined) return defaults;
  return mapFields((field) => sessions[field] || defaults[field]);
}

function mapFields(choose: (field: keyof SessionSettings) => number): SessionSettings {
  return Object.fromEntries(
    fields.map((field) => [field, choose(field)] as const),
  ) as unknown as SessionSettings;
}

export function sameTableSize(a: Nat44Global, b: Nat44Global): boolean {
  return effective(a).max_sessions === effective(b).max_sessions;
}

export function sameTimeouts(a: Nat44Global, b: Nat44Global): boolean {
  const [one, other] = [effective(a), effective(b)];
  return fields.every((field) => field === 'max_sessions' || one[field] === other[field]);
}

export function hasDefaultTimeouts(value: Nat44Global): boolean {
  return sameTimeouts(value, { ...value, sessions: defaults });
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
 * defaults and none is desired.
 */
export function settingsOf(
  { sessions, timeouts }: Nat44ShowRunningConfigReply,
  desired: Nat44Global | undefined,
): SessionSettings | undefined {
  const found: SessionSettings = {
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
  const isDefault = fields.every((field) => settings[field] === 0);
  return isDefault && asked === undefined ? undefined : settings;
}

export function validateSettings(key: string, { sessions }: Nat44Global): void {
  const size = sessions?.max_sessions ?? 0;
  const reason = `more than ${MAX_TABLE_SIZE} sessions may not fit the heap of VPP, which would end`;
  checkField(key, size <= MAX_TABLE_SIZE, 'sessions.max_sessions', reason);
}
