/** Which values of a configuration would stay pending, by the dependencies of the real descriptors. */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency, KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';

/** The descriptors of the agent. They are never connected: only their pure functions are used. */
function createDescriptors(): readonly AnyDescriptor[] {
  const shared = { clock: new ManualClock(), random: seededRandom(1), log: silentLogger };
  const host = new SimLinux(shared.random);
  const client = new BinapiClient({
    ...shared,
    connect: new SimVpp({ host, ...shared }).connect(),
    replyTimeoutMs: 1_000,
    health: { intervalMs: 60_000, timeoutMs: 60_000, maxMisses: 10 },
  });
  return [
    ...vppDescriptors({ client, ...shared }),
    ...linuxDescriptors({ host, label: 'node-a', log: silentLogger }),
  ];
}

const descriptors = createDescriptors();

function descriptorOf(key: string): AnyDescriptor | undefined {
  return descriptors.find(
    ({ keyPrefixes, ownsKey }) =>
      keyPrefixes.some((prefix) => key.startsWith(prefix)) && (ownsKey?.(key) ?? true),
  );
}

interface Candidate extends KeyedValue {
  /** Key of the value in the configuration that it is derived from, or its own key. */
  readonly base: string;
}

/**
 * Finds the values, and derived values, whose dependencies the configuration does not contain.
 * @param reported keys that VPP or Linux report by themselves, such as NICs
 * @returns key of the value in the configuration to its unmet dependencies, `<key>: <label>`
 */
export function pendingValues(
  config: ReadonlyMap<string, Value>,
  reported: Iterable<string> = [],
): ReadonlyMap<string, readonly string[]> {
  let available: Candidate[] = [...config].flatMap(([key, value]) => [
    { key, value, base: key },
    ...(descriptorOf(key)?.derived?.(key, value) ?? []).map((one) => ({ ...one, base: key })),
  ]);
  const pending = new Map<string, string[]>();
  for (;;) {
    const keys = new Set([...available.map(({ key }) => key), ...reported]);
    const unmet = available
      .map((one) => ({ one, labels: unmetLabels(one, keys) }))
      .filter(({ labels }) => labels.length > 0);
    if (unmet.length === 0) return pending;
    for (const { one, labels } of unmet)
      pending.set(one.base, [
        ...(pending.get(one.base) ?? []),
        ...labels.map((label) => `${one.key}: ${label}`),
      ]);
    // Without a pending value, the values that are derived from it do not exist either.
    const removed = new Set(unmet.map(({ one }) => one.key));
    available = available.filter(({ key, base }) => !removed.has(key) && !removed.has(base));
  }
}

function unmetLabels({ key, value }: Candidate, keys: ReadonlySet<string>): string[] {
  const dependencies = descriptorOf(key)?.dependencies?.(key, value) ?? [];
  return dependencies.filter((one) => !isMet(one, keys)).map(({ label }) => label);
}

function isMet({ key, anyOf }: Dependency, keys: ReadonlySet<string>): boolean {
  if (key !== undefined) return keys.has(key);
  if (!anyOf) return true;
  for (const candidate of keys)
    if (
      anyOf.prefixes.some((prefix) => candidate.startsWith(prefix)) &&
      (anyOf.accepts?.(candidate) ?? true)
    )
      return true;
  return false;
}
