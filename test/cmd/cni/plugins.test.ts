/** IPAM plugins that contiv-cni runs for the agent. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { encodePlugin } from '#plugins/podmanager/runtime-call/messages.ts';
import { declareUnless, withoutCompiler } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { buildExecutable, builds, errorIn, run } from './executable.ts';
import { folder } from './runtime.ts';
import { agentThat, agentWith } from './stand-in-agent.ts';

const ADDRESS = '{"ips":[{"address":"10.1.1.9/24"}]}';

const environment = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_IFNAME: 'eth0',
  CNI_NETNS: '/run/netns/x',
  CNI_PATH: ['/none', '', folder].join(delimiter),
};

function config(grpcServer: string, type: string, more: object = {}): string {
  const base = { cniVersion: '1.0.0', name: 'k8s', logFile: join(folder, 'plugins.log') };
  return JSON.stringify({ ...base, grpcServer, ipam: { type }, ...more });
}

/** @param script of a shell, which records its calls in the returned file */
function plugin(name: string, script: string, shell = '#!/bin/sh'): string {
  const calls = join(folder, `${name}.calls`);
  writeFileSync(calls, '');
  const file = join(folder, name);
  writeFileSync(file, `${shell}\necho "$CNI_COMMAND" >>${calls}\n${script}\n`);
  chmodSync(file, 0o755);
  return calls;
}

/** Outcome of an ADD with each plugin: the code of the error, and its text. */
const failures: readonly (readonly [title: string, script: string, code: number, error: RegExp])[] =
  [
    ['writes no JSON', 'echo rubbish', 101, /invalid result.*rubbish/s],
    ['writes bytes that are no text', "printf '\\377\\000\\001'", 101, /invalid result/],
    ['writes nothing', 'exit 0', 101, /invalid result/],
    ['fails without an error', 'echo oops; exit 3', 101, /failed.*oops/s],
    [
      'writes a CNI error',
      `echo '{"code":7,"msg":"no range","details":"d"}'; exit 1`,
      7,
      /no range/,
    ],
    ['crashes', 'kill -SEGV $$', 101, /failed/],
    ['writes an error and crashes', `echo '{"code":7,"msg":"x"}'; kill -KILL $$`, 7, /: x/],
    ['writes more than a megabyte', 'head -c 1100000 /dev/zero', 101, /more than 1 MiB/],
  ];

for (const [build, options] of Object.entries(builds))
  await declareUnless(withoutCompiler(), `IPAM plugins, ${build} build`, () =>
    describe(`IPAM plugins, ${build} build`, () => declare(buildExecutable(options))),
  );

function declare(executable: string): void {
  describe('a plugin that', () => {
    for (const [index, [title, script, code, error]] of failures.entries())
      it(title, async () => {
        const name = `failing-${index}`;
        const calls = plugin(name, `[ "$CNI_COMMAND" = DEL ] && exit 0\n${script}`);
        await using agent = await agentWith({});
        const ended = await run(executable, environment, config(agent.socket, name));
        assert.equal(ended.errors, '');
        const { code: found, msg, details } = errorIn(ended);
        assert.equal(found, code);
        assert.match(`${msg} ${details}`, error);
        assert.equal(readFileSync(calls, 'utf8'), 'ADD\nDEL\n');
      });

    it('cannot be started', async () => {
      plugin('broken', '', '#!/none/sh');
      await using agent = await agentWith({});
      const ended = await run(executable, environment, config(agent.socket, 'broken'));
      const { code, msg, details } = errorIn(ended);
      assert.deepEqual(
        [code, msg, details],
        [101, `${join(folder, 'broken')} failed`, 'No such file or directory'],
      );
    });

    it('writes before it reads, and more than a pipe holds in both directions', async () => {
      const padding = 'x'.repeat(500_000);
      plugin(
        'verbose',
        `printf '{"note":"'; head -c 500000 /dev/zero | tr '\\0' x; cat >/dev/null; echo '","ips":[{"address":"10.1.1.9/24"}]}'`,
      );
      await using agent = await agentWith({});
      const given = config(agent.socket, 'verbose', { padding });
      assert.equal((await run(executable, environment, given)).code, 0);
    });

    it('gets the whole environment and configuration, and no file of contiv-cni', async () => {
      const seen = join(folder, 'seen');
      plugin(
        'curious',
        `{ echo "$OTHER $CNI_ARGS"; ls /proc/$$/fd; cat; } >${seen}; echo '${ADDRESS}'`,
      );
      await using agent = await agentWith({});
      const given = config(agent.socket, 'curious');
      const env = { ...environment, OTHER: 'value', CNI_ARGS: 'A=b' };
      assert.equal((await run(executable, env, given)).code, 0);
      const [first, ...rest] = readFileSync(seen, 'utf8').split('\n');
      assert.equal(first, 'value A=b');
      assert.equal(rest.at(-1), given);
      // The shell has its script open.
      assert.deepEqual(
        rest.slice(0, -1).filter((fd) => Number(fd) < 10),
        ['0', '1', '2'],
      );
    });

    it('is in no folder of CNI_PATH', async () => {
      await using agent = await agentWith({});
      const ended = await run(executable, environment, config(agent.socket, 'missing'));
      const { code, msg, details } = errorIn(ended);
      assert.deepEqual(
        [code, msg, details],
        [7, 'IPAM plugin missing was not found in CNI_PATH', environment.CNI_PATH],
      );
      const { CNI_PATH: _, ...without } = environment;
      assert.equal(errorIn(await run(executable, without, config(agent.socket, 'x'))).code, 7);
    });
  });

  it('runs no program outside of CNI_PATH, whatever the agent sends', async () => {
    plugin('outside', 'exit 0');
    const messages: string[] = [];
    for (const name of [join(folder, 'outside'), '../outside', '', '.']) {
      await using agent = await agentThat((connection) => {
        connection.once('data', (end) => {
          messages.push(end.toString('latin1', 5));
          connection.destroy();
        });
        connection.write(encodePlugin(name, 'ADD', ''));
      });
      const ended = await run(executable, environment, config(agent.socket, 'x'));
      assert.equal(errorIn(ended).code, 11);
    }
    // A folder is an executable for access(2), and cannot be started.
    assert.deepEqual(messages.slice(0, 3), Array(3).fill('m\0\0'));
    assert.match(messages[3]!, /^x\x7f.*Permission denied$/);
  });

  it('runs no second time when the agent has disconnected', async () => {
    const calls = plugin('orphan', `sleep 0.1; echo '${ADDRESS}'`);
    await using agent = await agentThat((connection) =>
      connection.end(encodePlugin('orphan', 'ADD', ''), () => connection.destroy()),
    );
    const error = errorIn(await run(executable, environment, config(agent.socket, 'orphan')));
    assert.equal(error.code, 11);
    // The DEL of the runtime releases what the plugin has allocated.
    assert.equal(readFileSync(calls, 'utf8'), 'ADD\n');
  });

  it('ends with contiv-cni', async () => {
    const pid = join(folder, 'pid');
    plugin('endless', `echo $$ >${pid}.new; mv ${pid}.new ${pid}; exec sleep 60`);
    await using agent = await agentWith({});
    const child = spawn(executable, { env: environment });
    child.stdin.end(config(agent.socket, 'endless'));
    await until('the plugin runs', () => existsSync(pid));
    child.kill('SIGTERM');
    await once(child, 'close');
    const process = `/proc/${readFileSync(pid, 'utf8').trim()}`;
    await until('the plugin has ended', () => !existsSync(process));
  });
}

await declareUnless(withoutCompiler(), 'a plugin at the time limit', () =>
  describe('a plugin at the time limit', () => {
    // A second has 10 ms.
    const executable = buildExecutable([...builds.installed, '-DSECOND_MS=10']);
    const scripts = {
      'does not end': 'exec sleep 60',
      'closes its output': 'exec >&-; exec sleep 60',
    };
    for (const [title, script] of Object.entries(scripts))
      it(`${title}: it is killed`, async () => {
        const pid = join(folder, 'late-pid');
        plugin('late', `echo $$ >${pid}; ${script}`);
        await using agent = await agentWith({});
        const child = spawn(executable, { env: environment });
        child.stdin.end(config(agent.socket, 'late'));
        const { code, msg } = JSON.parse(await text(child.stdout));
        assert.equal(code, 11);
        assert.match(msg, /^the IPAM plugin .*late has not ended in time$/);
        const process = `/proc/${readFileSync(pid, 'utf8').trim()}`;
        await until('the plugin has ended', () => !existsSync(process));
      });
  }),
);
