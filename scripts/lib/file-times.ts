/** How long test files took the last time: the longest run first, so that all workers end together. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { FileResult } from './run-tests.ts';

const FOLDER = 'node_modules/.cache';
const TIMES_FILE = `${FOLDER}/test-times.json`;

/** In a fresh clone no time is known: these take more than ten seconds, the first the longest. */
const longFiles: readonly string[] = [
  'test/vpp/descriptors/transitions.test.ts',
  'test/cmd/agent/crash.test.ts',
  'test/integration/etcd/duplicate-label.test.ts',
  'test/integration/kernel/transitions.test.ts',
  'test/cmd/agent/main.test.ts',
  'test/ui/failures.test.ts',
  'test/cmd/agent/attacks.test.ts',
  'test/ui/pods.test.ts',
  'test/ui/overview.test.ts',
  'test/cmd/agent/crash-policies.test.ts',
  'test/ui/events.test.ts',
  'test/vpp/descriptors/releases.test.ts',
  'test/ui/values.test.ts',
  'test/cmd/agent/access.test.ts',
  'test/integration/etcd/dbwatcher-faults.test.ts',
  'test/ui/nodes.test.ts',
  'test/cmd/agent/crash-services.test.ts',
  'test/integration/vpp/transitions.test.ts',
  'test/integration/etcd/store-faults.test.ts',
  'test/ui/transactions.test.ts',
  'test/ui/keyboard.test.ts',
  'test/kvscheduler/properties.test.ts',
  'test/ui/connectivity.test.ts',
  'test/init/host-preparation.test.ts',
  'test/ui/login.test.ts',
  'test/datastore/faulty-disk.test.ts',
  'test/ui/plan.test.ts',
  'test/integration/vpp/dhcp-descriptors.test.ts',
  'test/ui/trace.test.ts',
  'test/netctl/completion/shells.test.ts',
  'test/vpp/descriptors/orphans.test.ts',
  'test/ui/pod-changes.test.ts',
  'test/integration/vpp/orphans.test.ts',
  'test/kvscheduler/windows.test.ts',
  'test/ui/hidden.test.ts',
];

/** Whether it runs for more than ten seconds. */
export const isLong = (file: string): boolean => longFiles.includes(file);

/** Orders the long files before all others whose time is not known. */
function estimate(file: string): number {
  const rank = longFiles.indexOf(file);
  return rank < 0 ? 0 : 90_000 - rank * 2_000;
}

type Times = Readonly<Record<string, number>>;

function readTimes(): Times {
  return existsSync(TIMES_FILE) ? (JSON.parse(readFileSync(TIMES_FILE, 'utf8')) as Times) : {};
}

/**
 * @param units files that run in one process
 * @returns them in the order in which they should start
 */
export function longestFirst(
  units: readonly (readonly string[])[],
  times: Times = readTimes(),
): (readonly string[])[] {
  const timeOf = (unit: readonly string[]) =>
    unit.reduce((sum, name) => sum + (times[name] ?? estimate(name)), 0);
  return units.toSorted((a, b) => timeOf(b) - timeOf(a));
}

export function recordTimes(results: readonly FileResult[]): void {
  const times = Object.fromEntries(results.map((result) => [result.file, Math.round(result.ms)]));
  if (!existsSync('node_modules')) return;
  mkdirSync(FOLDER, { recursive: true });
  const next = `${TIMES_FILE}.${process.pid}`;
  writeFileSync(next, JSON.stringify({ ...readTimes(), ...times }, null, 1));
  // Another run may read it at the same time.
  renameSync(next, TIMES_FILE);
}
