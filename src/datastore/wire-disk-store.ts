/** Wiring of a store on a disk: its status, and the recovery after a fault. */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { Affects, StatusCheck } from '#infra/status/status.ts';
import { type DiskStore, LocalStoreLostError } from './disk-store.ts';

/** Pause between two attempts to write while a fault is known. */
const ATTEMPT_MS = 5_000;

export interface DiskStoreWiringDeps {
  /** Name of the component in the status. */
  readonly name: string;
  /** Consequence of a store that cannot be used. */
  readonly affects: Affects;
  readonly store: DiskStore;
  readonly status: StatusCheck;
  readonly clock: Clock;
}

/**
 * While the store cannot be used, its component has the reason, and small writes find out when it can be
 * used again. When the disk has lost acknowledged writes, only a restart of the agent recovers them:
 * then liveness fails, too.
 */
export function wireDiskStore(deps: DiskStoreWiringDeps): Component {
  const { name, affects, store, status, clock } = deps;
  const problem = () => store.fault && `${store.fault.message}. ${store.fault.remedy}`;
  const isLost = () => store.fault instanceof LocalStoreLostError;
  status.registerProblem(name, affects, problem);
  status.registerProblem(`${name}-content`, 'liveness', () => (isLost() ? problem() : undefined));
  let timer: Timer | undefined;
  let isClosed = false;
  const schedule = (): void => {
    if (timer || isClosed || !store.fault || isLost()) return;
    timer = clock.timer(ATTEMPT_MS, () => void attempt());
  };
  const attempt = async (): Promise<void> => {
    // The store reports a failure as its fault.
    await store.tryWrite().catch(() => undefined);
    timer = undefined;
    schedule();
  };
  return {
    name,
    init: () => {
      store.onFault(schedule);
      schedule();
    },
    close: () => {
      isClosed = true;
      timer?.cancel();
    },
  };
}
