/** Random commands on a real process, compared with a model of its state and of its restarts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ManagedProcess } from '#infra/process-manager/managed-process.ts';
import { ProcessManager } from '#infra/process-manager/process-manager.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { withoutProgram } from '#test/support/requirements.ts';

const commands = [
  'start',
  'stop',
  'stopAndWait',
  'kill',
  'restart',
  'crash',
  'pause',
  'time',
] as const;
type Command = (typeof commands)[number];

interface Model {
  state: 'initial' | 'alive' | 'terminated';
  restartsLeft: number;
  /** An automatic restart will follow when time passes. */
  isRestartDue: boolean;
  starts: number;
}

/** Longer than each delay of a restart. */
const LONG_MS = 30_000;

/** Applies the command to the model. @returns whether the process must accept the command */
function predict(model: Model, command: Command, restarts: number): boolean {
  const start = () => {
    Object.assign(model, { state: 'alive', restartsLeft: restarts, isRestartDue: false });
    model.starts++;
  };
  switch (command) {
    case 'start':
      if (model.state === 'alive') return false;
      start();
      return true;
    case 'restart':
      start();
      return true;
    case 'stop':
    case 'stopAndWait':
    case 'kill':
      if (model.state === 'initial') return false;
      Object.assign(model, { state: 'terminated', isRestartDue: false });
      return true;
    case 'crash':
      if (model.state !== 'alive') return false;
      model.state = 'terminated';
      model.isRestartDue = model.restartsLeft !== 0;
      if (model.restartsLeft > 0) model.restartsLeft--;
      return true;
    case 'pause':
      return model.state === 'alive';
    case 'time':
      if (!model.isRestartDue) return true;
      Object.assign(model, { state: 'alive', isRestartDue: false });
      model.starts++;
      return true;
  }
}

async function run(one: ManagedProcess, command: Command, clock: ManualClock): Promise<void> {
  switch (command) {
    case 'start':
      return await one.start();
    case 'restart':
      return await one.restart();
    case 'stop':
      one.stop();
      return void (await one.wait());
    case 'stopAndWait':
      return void (await one.stopAndWait());
    case 'kill':
      return void (await one.kill());
    case 'crash':
      one.signal('SIGSEGV');
      return void (await one.wait());
    case 'pause':
      one.signal('SIGSTOP');
      return one.signal('SIGCONT');
    case 'time':
      return await clock.advance(LONG_MS);
  }
}

describe('a managed process under random commands', { skip: withoutProgram('setpriv') }, () => {
  it('behaves like its model', async () => {
    const name = {
      file: 'test/infra/process-manager/random-commands.test.ts',
      name: 'like its model',
    };
    const property = fc.asyncProperty(
      fc.constantFrom(-1, 0, 1, 2),
      fc.array(fc.constantFrom(...commands), { minLength: 1, maxLength: 12 }),
      async (restarts, sequence) => {
        const clock = new ManualClock();
        let starts = 0;
        const log = {
          ...silentLogger,
          info: (_fields: unknown, text: string) => {
            if (text === 'process is running') starts++;
          },
        };
        const manager = new ProcessManager({
          clock,
          random: seededRandom(1),
          log: log as typeof silentLogger,
        });
        const options = { args: ['60'], restarts, notify: true };
        const one = await manager.create('one', 'sleep', options);
        const model: Model = {
          state: 'initial',
          restartsLeft: restarts,
          isRestartDue: false,
          starts: 0,
        };
        const seen: string[] = [];
        void (async () => {
          for await (const status of one.notifications!) seen.push(status);
        })();
        try {
          for (const command of sequence) {
            const isAccepted = predict(model, command, restarts);
            const result = run(one, command, clock);
            if (isAccepted) await result;
            else await assert.rejects(result, { code: 'CV_PROCESS_STATE' }, command);
            const expected = model.state === 'alive' ? [true, true] : [false, false];
            assert.deepEqual([one.isAlive, one.pid !== undefined], expected, command);
            if (model.state !== 'alive') assert.equal(one.status, model.state, command);
            assert.equal(starts, model.starts, command);
          }
          await clock.advance(0);
          const repeated = seen.filter((status, at) => status === seen[at - 1]);
          assert.deepEqual(repeated, [], 'only changes are reported');
        } finally {
          if (one.isAlive) await one.kill();
          await manager.close();
          assert.equal(clock.pending, 0, 'no timer is left');
        }
      },
    );
    await checkProperty(name, 40, property);
  });
});
