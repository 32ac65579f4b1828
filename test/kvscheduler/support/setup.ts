import assert from 'node:assert/strict';
import { ManualClock } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { TransactionMode, TransactionRequest } from '#kvscheduler/api/transaction.ts';
import type { ValueStatus } from '#kvscheduler/graph/value-status.ts';
import type { RecordedTxn } from '#kvscheduler/history/record.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler, SchedulerOptions } from '#kvscheduler/scheduler.ts';
import { Southbound, type Spec } from './southbound.ts';

export type DesiredValues = Readonly<Record<string, Spec | null>>;

export interface Bench {
  readonly southbound: Southbound;
  readonly clock: ManualClock;
  readonly scheduler: Scheduler;
  /** Messages that were logged as error or warning. */
  readonly logged: { readonly level: string; readonly fields: object; readonly text: string }[];
  /** Commits and returns the failures as `key (OPERATION): text`. */
  commit(desired: DesiredValues, options?: CommitOptions): Promise<string[]>;
  /** The same, and the calls that the southbound got. */
  calls(desired: DesiredValues, options?: CommitOptions): Promise<string[]>;
  lastRecord(): RecordedTxn;
  state(key: string): string;
}

/** Changes the descriptor of one name. */
export function withDescriptor(name: string, change: Partial<AnyDescriptor>) {
  return (descriptors: AnyDescriptor[]): AnyDescriptor[] =>
    descriptors.map((one) => (one.name === name ? { ...one, ...change } : one));
}

export type CommitOptions = Partial<Omit<TransactionRequest, 'values'>>;

/** @param change replaces the descriptors of the mock */
export function setUp(
  options: Partial<Omit<SchedulerOptions, 'descriptors'>> = {},
  change: (descriptors: AnyDescriptor[]) => AnyDescriptor[] = (descriptors) => descriptors,
): Bench {
  const southbound = new Southbound();
  const clock = new ManualClock();
  const logged: Bench['logged'] = [];
  const keep = (level: string) => (fields: unknown, text?: string) =>
    void logged.push({ level, fields: fields as object, text: text ?? '' });
  const log: Logger = { ...silentLogger, warn: keep('warn'), error: keep('error') };
  const descriptors = change(southbound.descriptors());
  const scheduler = createScheduler({ descriptors, clock, log, ...options });
  let lastSeqNum = -1;
  const commit: Bench['commit'] = async (desired, commitOptions = {}) => {
    const values = new Map(Object.entries(desired));
    const { mode = 'update', onFailure } = commitOptions;
    setDesired(southbound, mode, values, onFailure);
    const { seqNum, failures } = await scheduler.commit({
      description: 'test',
      mode: 'update',
      onFailure: 'best-effort',
      ...commitOptions,
      values,
    });
    lastSeqNum = seqNum;
    return failures.map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
  };
  return {
    southbound,
    clock,
    scheduler,
    logged,
    commit,
    async calls(desired, commitOptions) {
      southbound.calls.length = 0;
      await commit(desired, commitOptions);
      return southbound.takeCalls();
    },
    lastRecord() {
      const record = scheduler.record(lastSeqNum);
      assert.ok(record);
      return record;
    },
    state(key) {
      const { value, derived_values = [] } = scheduler.status(key);
      const own = [value, ...derived_values].find((status) => status.key === key);
      return own ? stateText(own) : 'NONEXISTENT';
    },
  };
}

/** The state of a value, its details in brackets, and the state of its last valid value. */
export function stateText({ state, details, last_valid_state: lastValid }: ValueStatus): string {
  const shown = details ? ` [${details.join(', ')}]` : '';
  return `${state}${shown}${lastValid ? ` last valid ${lastValid}` : ''}`;
}

/** Advances the virtual time in steps; retries that are due in a step are done before the next. */
export async function pass({ clock, scheduler }: Bench, ms: number, step = 10): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    await clock.advance(Math.min(step, left));
    // A plan waits for the queued transactions.
    await scheduler.plan({ mode: 'update', values: new Map() });
  }
}

/** Sets the desired state of the southbound, by which it recognizes cycles of dependencies. */
export function setDesired(
  southbound: Southbound,
  mode: TransactionMode,
  values: ReadonlyMap<string, Spec | null>,
  onFailure: TransactionRequest['onFailure'] = 'best-effort',
): void {
  southbound.former = onFailure === 'revert' ? southbound.desired : new Map();
  if (mode === 'downstream-resync') return;
  const desired = new Map(mode === 'update' ? southbound.desired : []);
  for (const [key, spec] of values)
    if (spec) desired.set(key, spec);
    else desired.delete(key);
  southbound.setDesired(desired);
}

/** `VERB key STATE` of the operations in a record, with their flags before the state. */
export function operationsOf(record: RecordedTxn, list: 'Planned' | 'Executed' = 'Executed') {
  return (record[list] ?? []).map((operation) => {
    const flags = [
      operation.NOOP && 'noop',
      operation.IsRecreate && 'recreate',
      operation.IsRevert && 'revert',
      operation.IsRetry && 'retry',
    ].filter(Boolean);
    const shown = flags.length === 0 ? '' : `${flags.join(' ')} `;
    return `${operation.Operation} ${operation.Key} ${shown}${operation.NewState ?? ''}`;
  });
}
