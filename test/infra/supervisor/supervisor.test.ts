import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import { supervisorSchema } from '#infra/supervisor/config.ts';
import { Supervisor } from '#infra/supervisor/supervisor.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { makeManager, testFolder } from '../process-manager/support.ts';

function makeSupervisor(t: TestContext, text: string) {
  const { manager, clock } = makeManager(t);
  const errors: string[] = [];
  const log = {
    ...silentLogger,
    error: (fields: { error?: string }, message: string) =>
      void errors.push(`${message}: ${fields.error}`),
  } as typeof silentLogger;
  const config = parseConfig(supervisorSchema, text, 'supervisor.conf').value;
  return { supervisor: new Supervisor({ config, manager, clock, log }), manager, clock, errors };
}

describe('a supervisor', { skip: withoutProgram('setpriv') }, () => {
  it('starts programs as configured, and runs hooks in order for each change', async (t) => {
    const folder = testFolder(t);
    const hooks = join(folder, 'hooks');
    const last = cpus().length - 1;
    const script = `echo "$0 $SUPERVISOR_EVENT_TYPE $SUPERVISOR_PROCESS_NAME $SUPERVISOR_PROCESS_STATE" >> ${hooks}`;
    const { supervisor, manager, clock, errors } = makeSupervisor(
      t,
      `programs:
  - name: "one"
    executable-path: "/bin/sh"
    executable-args: ["-c", "echo started; echo failed >&2; exec sleep 60"]
    logfile-path: "${folder}/one.log"
    restarts: 1
    cpu-affinity-mask: ${2 ** last}
    cpu-affinity-setup-delay: 1s
  - executable-path: /bin/sleep
    executable-args: ["60"]
hooks:
  - { cmd: "sh", cmd-args: ["-c", '${script}', "a"] }
  - { cmd: "/nowhere/hook" }
  - { cmd: "sh", cmd-args: ["-c", '${script}; exit 3', "b"] }
`,
    );
    await supervisor.init();
    assert.deepEqual(
      manager.all().map(({ name, isAlive }) => `${name} ${isAlive}`),
      ['one true', 'sleep true'],
    );
    const one = manager.byName('one')!;
    await until('the output is written', () => {
      const file = join(folder, 'one.log');
      return existsSync(file) && readFileSync(file, 'utf8') === 'started\nfailed\n';
    });
    await clock.advance(1000);
    await until('the CPUs are set', () => one.statusFile()?.['Cpus_allowed_list'] === String(last));
    one.signal('SIGKILL');
    const lines = () => (existsSync(hooks) ? readFileSync(hooks, 'utf8').trim().split('\n') : []);
    const isTold = () => lines().includes('b ProcessStatus one terminated');
    await until('the hooks have run', isTold);
    const all = lines();
    assert.equal(
      all[all.indexOf('b ProcessStatus one terminated') - 1],
      'a ProcessStatus one terminated',
    );
    assert.ok(all.some((line) => /^a ProcessStatus sleep (running|sleeping)$/.test(line)));
    await until('failures are logged', () => errors.length >= 2);
    assert.match(errors.join('\n'), /hook failed: hook: there is no program \/nowhere\/hook/);
    assert.match(errors.join('\n'), /hook failed: the command ended with 3/);
    await clock.advance(1000);
    assert.ok(one.isAlive);
    one.signal('SIGKILL');
    await until('it ended', () => one.status === 'terminated');
    await clock.advance(60_000);
    assert.ok(!one.isAlive);
  });

  it('kills a hook that does not end, and continues with the next', async (t) => {
    const file = join(testFolder(t), 'ran');
    // the hook also runs at the end of the test, when virtual time has stopped
    const { supervisor, clock, errors } = makeSupervisor(
      t,
      `programs: [{ executable-path: /bin/sleep, executable-args: ["60"] }]
hooks:
  - { cmd: sh, cmd-args: ["-c", "[ $SUPERVISOR_PROCESS_STATE = terminated ] || exec sleep 10"] }
  - { cmd: touch, cmd-args: ["${file}"] }`,
    );
    await supervisor.init();
    await until('the next hook has run', async () => {
      await clock.advance(1000);
      return existsSync(file);
    });
    assert.match(errors[0] ?? '', /hook failed: the command ended with SIGKILL/);
  });

  it('is not made without programs, with a name twice or an invalid option', async (t) => {
    const invalid = (text: string) =>
      assert.throws(() => makeSupervisor(t, text), { code: 'CV_CONFIG_INVALID' });
    invalid('');
    invalid('programs: [{ executable-path: /bin/sleep }, { executable-path: /usr/bin/sleep }]');
    invalid('programs: [{ name: one }]');
    invalid('programs: [{ executable-path: sleep, restarts: -2 }]');
    const { supervisor, manager } = makeSupervisor(
      t,
      `programs: [{ executable-path: sleep, executable-args: ["60"] }, { name: b, executable-path: sleep, cpu-affinity-list: all }]`,
    );
    await assert.rejects(supervisor.init(), { code: 'CV_PROCESS_OPTION' });
    assert.deepEqual(
      manager.all().map(({ status }) => status),
      ['initial'],
    );
  });
});
