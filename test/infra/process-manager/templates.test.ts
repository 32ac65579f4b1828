import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { makeManager, testFolder } from './support.ts';

const skip = withoutProgram('setpriv');

/** As the process manager of the original writes it. */
const original = {
  name: 'test-pr',
  cmd: 'sleep',
  p_options: {
    args: ['60'],
    out_writer: true,
    err_writer: true,
    restart: -1,
    detach: false,
    run_on_startup: true,
    notify: true,
    auto_terminate: true,
    cpu_affinity_mask: '1',
    cpu_affinity_list: '0',
    cpu_affinity_delay: '1m30s',
  },
};

describe('templates of processes', { skip }, () => {
  it('of the original are read, and started if they are to run on startup', async (t) => {
    const folder = testFolder(t);
    writeFileSync(join(folder, 'test-pr.json'), JSON.stringify(original));
    writeFileSync(join(folder, 'other.json'), '{"name":"other","cmd":"sleep"}');
    const { manager, clock } = makeManager(t, folder);
    await manager.init();
    assert.deepEqual(manager.template('test-pr'), original);
    assert.deepEqual(
      manager.templates().map(({ name }) => name),
      ['other', 'test-pr'],
    );
    assert.equal(manager.byName('other'), undefined);
    const one = manager.byName('test-pr');
    assert.ok(one?.isAlive && one.notifications);
    // -1 means without limit: the original restarted once.
    for (let count = 0; count < 3; count++) {
      one.signal('SIGKILL');
      await until('it ended', () => one.status === 'terminated');
      await clock.advance(1_000);
      assert.ok(one.isAlive);
    }
    // A process of a template that was never started is not started by itself.
    const other = manager.fromTemplate({ ...original, name: 'never' });
    await clock.advance(60_000);
    assert.equal(other.status, 'initial');
  });

  it('that are written are read again by the next manager, and belong to their owner', async (t) => {
    const folder = join(testFolder(t), 'deep', 'templates');
    const { manager } = makeManager(t, folder);
    await manager.init();
    await manager.create('one', 'sleep', {
      args: ['60', '--token=secret'],
      restarts: 2,
      output: 'inherit',
      notify: true,
      detach: true,
      template: { name: 'saved', runOnStartup: false },
      cpuAffinity: { list: '0', delayMs: 1500 },
    });
    const expected = {
      name: 'saved',
      cmd: 'sleep',
      p_options: {
        args: ['60', '--token=secret'],
        out_writer: true,
        restart: 2,
        detach: true,
        notify: true,
        cpu_affinity_list: '0',
        cpu_affinity_delay: '1500ms',
      },
    };
    const file = join(folder, 'saved.json');
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), expected);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(folder), ['saved.json']);
    const next = makeManager(t, folder).manager;
    await next.init();
    assert.deepEqual([next.templates(), next.all()], [[expected], []]);
    assert.deepEqual(manager.template('saved'), expected);
  });

  it('are refused outside of their folder, and without one', async (t) => {
    const folder = join(testFolder(t), 'templates');
    mkdirSync(folder);
    const { manager } = makeManager(t, folder);
    const template = { name: 'one', runOnStartup: true };
    for (const name of [
      '../escaped',
      '/tmp/escaped',
      '..',
      '.hidden',
      'a/b',
      'a\\b',
      'a\0b',
      '',
      'x'.repeat(201),
    ])
      await assert.rejects(manager.create('one', 'sleep', { template: { ...template, name } }), {
        code: 'CV_PROCESS_TEMPLATE',
      });
    assert.deepEqual([readdirSync(folder), manager.all()], [[], []]);
    assert.ok(!existsSync(join(folder, '../escaped.json')));
    assert.throws(() => manager.fromTemplate({ name: '../x', cmd: 'sleep' }), {
      code: 'CV_PROCESS_TEMPLATE',
    });
    const without = makeManager(t).manager;
    await assert.rejects(without.create('one', 'sleep', { template }), {
      message: /one: template-path is not set/,
    });
  });

  it('that cannot be used are logged, and do not keep others from starting', async (t) => {
    const folder = testFolder(t);
    const files = {
      'a-broken.json': '{',
      'b-no-name.json': '{"cmd":"sleep"}',
      'c-escape.json': '{"name":"../../x","cmd":"sleep"}',
      'd-delay.json': '{"name":"d","cmd":"sleep","p_options":{"cpu_affinity_delay":"soon"}}',
      'e-no-command.json': '{"name":"e","cmd":""}',
      'f-restart.json': '{"name":"f","cmd":"sleep","p_options":{"restart":-2}}',
      'g-program.json': '{"name":"g","cmd":"/nowhere","p_options":{"run_on_startup":true}}',
      'h-good.json': '{"name":"h","cmd":"sleep","p_options":{"args":["60"],"run_on_startup":true}}',
      'i-twice.json': '{"name":"h","cmd":"true"}',
      'j-mode.json': '{"name":"j","cmd":"sleep"}',
      'readme.txt': 'no template',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    chmodSync(join(folder, 'j-mode.json'), 0o666);
    mkdirSync(join(folder, 'k-folder.json'));
    const { manager, logged } = makeManager(t, folder);
    await manager.init();
    assert.deepEqual(
      manager.templates().map(({ name }) => name),
      ['g', 'h'],
    );
    assert.ok(manager.byName('h')?.isAlive);
    const ignored = logged.filter(({ message }) => message === 'ignoring process template');
    assert.deepEqual(
      ignored.map(({ fields }) => String(fields['file']).split('/').at(-1)![0]),
      ['a', 'b', 'c', 'd', 'e', 'f', 'i', 'j', 'k'],
    );
    assert.ok(logged.some(({ message }) => message === 'starting the process failed'));
  });

  it('of another user are ignored, also when only their owner may write them', {
    skip: process.getuid?.() !== 0 && 'needs root',
  }, async (t) => {
    const folder = testFolder(t);
    const file = join(folder, 'planted.json');
    writeFileSync(file, '{"name":"planted","cmd":"sleep","p_options":{"run_on_startup":true}}');
    chownSync(file, 65_534, 65_534);
    const { manager, logged } = makeManager(t, folder);
    await manager.init();
    assert.equal(manager.byName('planted'), undefined);
    assert.match(String(logged[0]?.fields['err']), /another user owns the template/);
  });

  it('are not replaced by a part of them when the disk refuses the file', async (t) => {
    const folder = testFolder(t);
    const { manager } = makeManager(t, join(folder, 'templates'));
    writeFileSync(join(folder, 'templates'), 'a file, not a folder');
    await assert.rejects(
      manager.create('one', 'sleep', { template: { name: 'one', runOnStartup: true } }),
      {
        code: 'CV_PROCESS_TEMPLATE',
        message: /cannot write the template/,
      },
    );
    assert.equal(manager.byName('one'), undefined);
  });
});
