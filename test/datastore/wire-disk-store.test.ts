import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type DiskStore,
  LocalStoreLostError,
  LocalStoreUnavailableError,
} from '#datastore/disk-store.ts';
import { wireDiskStore } from '#datastore/wire-disk-store.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import { StatusCheck } from '#infra/status/status.ts';

class FakeDisk implements DiskStore {
  readonly folder = '/var/bolt/agent.level';
  readonly loss = undefined;
  fault: CodedError | undefined;
  attempts = 0;
  isFull = false;
  #listener: () => void = () => undefined;

  onFault(listener: () => void): void {
    this.#listener = listener;
  }

  async resolveLoss(): Promise<void> {}

  async tryWrite(): Promise<void> {
    this.attempts++;
    if (this.isFull) throw this.fault;
    this.become(undefined);
  }

  become(fault: CodedError | undefined): void {
    this.fault = fault;
    this.#listener();
  }
}

function wired() {
  const clock = new ManualClock();
  const status = new StatusCheck(clock, { version: '', date: '', commit: '' });
  const disk = new FakeDisk();
  const component = wireDiskStore({
    name: 'local-store',
    affects: 'state',
    store: disk,
    status,
    clock,
  });
  void component.init?.();
  return { clock, status, disk, component };
}

function isReady(status: StatusCheck): boolean {
  status.readProblems();
  return status.readiness.state === 'ok';
}

const full = () =>
  new LocalStoreUnavailableError('IO error: 000005.log: No space left on device', {
    where: 'level /var/bolt/agent.level',
  });

describe('the status of a store on a disk', () => {
  it('names the store, the reason and what helps, and recovers without a request', async () => {
    const { clock, status, disk } = wired();
    assert.ok(isReady(status));
    await clock.advance(60_000);
    assert.equal(disk.attempts, 0, 'nothing is written while no fault is known');
    disk.isFull = true;
    disk.become(full());
    assert.equal(isReady(status), false);
    const { error = '' } = status.component('local-store');
    assert.match(
      error,
      /^level \/var\/bolt\/agent\.level: .*No space left on device\. Check the disk/,
    );
    assert.doesNotMatch(error, /endpoint|certificate/);
    assert.ok(status.isAlive);
    await clock.advance(20_000);
    assert.equal(disk.attempts, 4);
    assert.equal(isReady(status), false);
    disk.isFull = false;
    await clock.advance(5_000);
    assert.ok(isReady(status));
    await clock.advance(60_000);
    assert.equal(disk.attempts, 5);
  });

  it('fails liveness when acknowledged writes are lost: a restart recovers them', async () => {
    const { clock, status, disk } = wired();
    disk.become(new LocalStoreLostError('the disk has lost acknowledged writes'));
    status.readProblems();
    assert.equal(status.isAlive, false);
    await clock.advance(60_000);
    assert.equal(disk.attempts, 0);
  });

  it('attempts nothing after it was closed', async () => {
    const { clock, disk, component } = wired();
    disk.isFull = true;
    disk.become(full());
    await component.close?.();
    disk.become(full());
    await clock.advance(60_000);
    assert.equal(disk.attempts, 0);
    assert.equal(clock.pending, 0);
  });
});
