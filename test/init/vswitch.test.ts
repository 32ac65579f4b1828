import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { VppEndedError } from '#init/errors.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { FakeVswitch, type VswitchOptions } from './vswitch-programs.ts';

describe('contiv-init', { skip: withoutProgram('setpriv'), concurrency: 4 }, () => {
  async function started(t: TestContext, options: VswitchOptions = {}): Promise<FakeVswitch> {
    const vswitch = new FakeVswitch(t, options);
    vswitch.start();
    await until('both programs run', () =>
      vswitch.events.includes(options.isVppOnly ? 'vpp started' : 'agent started'),
    );
    return vswitch;
  }

  it('starts VPP, then the agent, and stops them in the reverse order', async (t) => {
    const vswitch = await started(t);
    vswitch.stop();
    await vswitch.ended();
    assert.deepEqual(vswitch.events, [
      'prepared',
      'vpp started',
      'agent prepared',
      'agent started',
      'agent stopped',
      'vpp stopped',
      'undone',
    ]);
  });

  it('starts VPP alone', async (t) => {
    const vswitch = await started(t, { isVppOnly: true });
    await until('it is ready', () => vswitch.pid('vpp') !== undefined);
    // Until the socket answers VPP would be killed.
    await new Promise((resolve) => setTimeout(resolve, 300));
    vswitch.stop();
    await vswitch.ended();
    assert.deepEqual(vswitch.events, ['prepared', 'vpp started', 'vpp stopped', 'undone']);
  });

  it('restarts the agent alone', async (t) => {
    const vswitch = await started(t);
    const vpp = vswitch.pid('vpp');
    const agent = vswitch.pid('agent')!;
    process.kill(agent, 'SIGKILL');
    await until(
      'the agent runs again',
      () => vswitch.events.filter((event) => event === 'agent started').length === 2,
    );
    assert.notEqual(vswitch.pid('agent'), agent);
    assert.equal(vswitch.pid('vpp'), vpp);
  });

  it('stops the agent and fails when VPP ends', async (t) => {
    const vswitch = await started(t);
    process.kill(vswitch.pid('vpp')!, 'SIGKILL');
    await assert.rejects(vswitch.ended(), (error: Error) => {
      assert.ok(error instanceof VppEndedError);
      assert.match(error.message, /VPP ended: SIGKILL/);
      return true;
    });
    assert.deepEqual(vswitch.events.slice(-2), ['agent stopped', 'undone']);
  });

  it('stops both and fails when VPP has lost its NIC', async (t) => {
    const lost = Promise.withResolvers<Error>();
    const vswitch = await started(t, { preparation: { whenLost: () => lost.promise } });
    lost.resolve(new Error('the host has the NIC'));
    await assert.rejects(vswitch.ended(), /the host has the NIC/);
    assert.deepEqual(vswitch.events.slice(-3), ['agent stopped', 'vpp stopped', 'undone']);
  });

  it('leaves the other program as it is when one ends, for a debugger', async (t) => {
    const vswitch = await started(t, { staysAfterCrash: true });
    process.kill(vswitch.pid('agent')!, 'SIGKILL');
    await until('the agent has ended', () => vswitch.pid('agent') === undefined);
    process.kill(vswitch.pid('vpp')!, 'SIGKILL');
    await until('VPP has ended', () => vswitch.pid('vpp') === undefined);
    // Longer than the first delay of a restart.
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(vswitch.events.at(-1), 'agent started');
    vswitch.stop();
    await vswitch.ended();
    assert.equal(vswitch.events.at(-1), 'undone');
  });

  it('passes on what VPP writes last', async (t) => {
    const vpp = `
      note 'vpp started'
      i=0; while [ $i -lt 500 ]; do echo "frame $i" >&2; i=$((i + 1)); done
      kill -ABRT $$`;
    const vswitch = new FakeVswitch(t, { vpp, isVppOnly: true });
    vswitch.start();
    await assert.rejects(vswitch.ended(), /VPP ended/);
    assert.match(vswitch.written.join(''), /^frame 0\n.*frame 499\n$/s);
  });

  it('fails when VPP ends before it accepts connections', async (t) => {
    const vswitch = new FakeVswitch(t, { vpp: 'exit 3' });
    vswitch.start();
    await assert.rejects(vswitch.ended(), /startup\.conf: VPP ended: exit code 3/);
    assert.deepEqual(vswitch.events, ['prepared', 'undone']);
  });

  it('kills a VPP that ignores SIGTERM because it is not ready', async (t) => {
    const vswitch = new FakeVswitch(t, {
      vpp: "trap 'note ignored' TERM; note waiting; while :; do sleep 0.02; done",
    });
    vswitch.start();
    await until('VPP runs', () => vswitch.events.includes('waiting'));
    vswitch.stop();
    await vswitch.ended();
    assert.deepEqual(vswitch.events, ['prepared', 'waiting', 'undone']);
  });

  it('does not wait for a preparation that continues after the stop', async (t) => {
    const vswitch = await started(t, {
      preparation: {
        run: async (_, onWait) => {
          await onWait();
          return new Promise(() => undefined);
        },
      },
    });
    vswitch.stop();
    await vswitch.ended();
    assert.deepEqual(vswitch.events.slice(-2), ['agent stopped', 'undone']);
  });

  it('starts no agent after the stop', async (t) => {
    const prepared = Promise.withResolvers<void>();
    const started = Promise.withResolvers<unknown>();
    const vswitch = new FakeVswitch(t, {
      prepareAgent: () => prepared.promise,
      preparation: {
        run: async (_, onWait) => {
          await onWait().then(started.resolve, started.resolve);
          return new Promise(() => undefined);
        },
      },
    });
    vswitch.start();
    await until('the agent is prepared', () => vswitch.events.includes('agent prepared'));
    vswitch.stop();
    await vswitch.ended();
    prepared.resolve();
    await started.promise;
    assert.equal(vswitch.pid('agent'), undefined);
    assert.deepEqual(vswitch.events, ['agent prepared', 'undone']);
  });

  it('keeps VPP when nothing can tell whether it has its NIC', async (t) => {
    const vswitch = await started(t, {
      preparation: { whenLost: () => Promise.reject(new Error('too many open files')) },
    });
    // Longer than VPP takes to end.
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(vswitch.pid('vpp'));
    vswitch.stop();
    await vswitch.ended();
    assert.deepEqual(vswitch.events.slice(-3), ['agent stopped', 'vpp stopped', 'undone']);
  });

  it('starts the agent before VPP when VPP has to wait', async (t) => {
    const wait = Promise.withResolvers<void>();
    const vswitch: FakeVswitch = await started(t, {
      preparation: {
        run: async (_, onWait) => {
          await onWait();
          await wait.promise;
          return { configuration: 'startup.conf', apiSocket: vswitch.apiSocket };
        },
      },
    });
    assert.equal(vswitch.pid('vpp'), undefined);
    wait.resolve();
    await until('VPP runs', () => vswitch.events.includes('vpp started'));
    assert.equal(vswitch.events.filter((event) => event === 'agent started').length, 1);
  });
});
