/** Wiring of a store on a disk: its status, and the recovery after a fault. */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import { type DiskStore, LocalStoreLostError } from './disk-store.ts';

/** Pause between two attempts to write while a fault is known. */
const ATTEMPT_MS = 5_000;

export interface DiskStoreWiringDeps {
  /** Name of the component in the status. */
  readonly name: string;
  readonly store: DiskStore;
  readonly status: StatusCheck;
  readonly clock: Clock;
}

/**
 * While the store cannot be used, readiness fails with the reason, and small writes find out when it can
 * be used again. When the disk has lost acknowledged writes, only a restart of the agent recovers them:
 * then liveness fails, too.
 */
export function wireDiskStore({ name, store, status, clock }: DiskStoreWiringDeps): Component {
  const problem = () => store.fault && `${store.fault.message}. ${store.fault.remedy}`;
  const isLost = () => store.fault instanceof LocalStoreLostError;
  status.registerProblem(name, 'readiness', problem);
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
