import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { VswitchWatch } from '#stn/daemon/vswitch-watch.ts';
import { FakeHost } from './fake-host.ts';

describe('the watch of the vswitch', () => {
  let host: FakeHost;
  let clock: ManualClock;
  let watch: VswitchWatch;
  beforeEach(() => {
    host = new FakeHost();
    clock = new ManualClock();
    watch = new VswitchWatch(() => host.links(), clock);
  });

  /** Looks each second. @returns the seconds until the vswitch is lost; undefined: it is not */
  const lostAfter = async (seconds: number): Promise<number | undefined> => {
    for (let second = 0; second <= seconds; second++) {
      if (watch.isLost) return second;
      await clock.advance(1_000);
    }
    return undefined;
  };
  const plug = (operState = 6): void => void host.plug('vpp1', { up: true, operState });

  it('ends after 30 seconds without the link', async () => {
    assert.equal(await lostAfter(60), 30);
  });

  it('continues while the link is up, also in an unknown state', async () => {
    for (const operState of [6, 0]) {
      plug(operState);
      assert.equal(await lostAfter(100), undefined);
      host.unplug('vpp1');
    }
  });

  it('ends 10 seconds after the link was lost, or is down', async () => {
    plug();
    assert.equal(await lostAfter(60), undefined);
    host.unplug('vpp1');
    assert.equal(await lostAfter(60), 9);
    for (const change of [
      { up: true, operState: 2 },
      { up: false, operState: 6 },
    ]) {
      plug();
      assert.equal(await lostAfter(60), undefined);
      host.unplug('vpp1');
      host.plug('vpp1', change);
      assert.equal(await lostAfter(60), 9);
      host.unplug('vpp1');
    }
  });

  it('continues when the link is made again', async () => {
    plug();
    assert.equal(await lostAfter(60), undefined);
    host.unplug('vpp1');
    assert.equal(await lostAfter(8), undefined);
    plug();
    assert.equal(await lostAfter(60), undefined);
  });

  it('gives each start of VPP 30 seconds, also when the link was up before', async () => {
    plug();
    assert.equal(await lostAfter(60), undefined);
    host.unplug('vpp1');
    watch.arm();
    assert.equal(await lostAfter(60), 30);
  });

  it('continues after a pause of the machine in which nothing was looked at', async () => {
    plug();
    assert.equal(await lostAfter(60), undefined);
    clock.jump(3_600_000);
    assert.equal(await lostAfter(5), undefined);
  });
});
