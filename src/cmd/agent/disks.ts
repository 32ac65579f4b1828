import { wireDiskStore } from '#datastore/wire-disk-store.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { Environment } from './environment.ts';

type Disks = Pick<Environment, 'localDisk' | 'mirrorDisk' | 'mirrorFault' | 'externalDisk'>;

/** The stores on disks of this node, with their status. */
export function wireDisks(disks: Disks, status: StatusCheck, clock: Clock): Component[] {
  const { localDisk, mirrorDisk, mirrorFault, externalDisk } = disks;
  const all = [
    { name: 'local-store', affects: 'state', store: localDisk },
    { name: 'mirror', affects: 'readiness', store: mirrorDisk },
    { name: 'external-store', affects: 'readiness', store: externalDisk },
  ] as const;
  const components = all.flatMap(({ store, ...one }) =>
    store ? [wireDiskStore({ ...one, store, status, clock })] : [],
  );
  if (mirrorFault !== undefined) status.registerProblem('mirror', 'readiness', () => mirrorFault);
  return components;
}
