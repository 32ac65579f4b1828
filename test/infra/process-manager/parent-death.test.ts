/** Which processes survive the program that has started them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { exists } from './support.ts';

const skip = withoutProgram('setpriv');
const folder = new URL('../../../src/infra/', import.meta.url).href;

/** Starts two processes by a manager, prints their IDs, and waits. */
const program = `
  const { ProcessManager } = await import('${folder}process-manager/process-manager.ts');
  const { systemClock, systemRandom } = await import('${folder}clock/system.ts');
  const { silentLogger } = await import('${folder}log/log.ts');
  const manager = new ProcessManager({ clock: systemClock, random: systemRandom, log: silentLogger });
  const started = async (name, options) => {
    const one = await manager.create(name, 'sleep', { args: ['60'], ...options });
    await one.start();
    return one.pid;
  };
`;

interface Started {
  readonly child: number;
  readonly detached: number;
}

async function startParent(t: TestContext, ending: string) {
  const parent = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `${program}
     const child = await started('child', {});
     const detached = await started('detached', { detach: true });
     console.log(JSON.stringify({ child, detached }));
     ${ending}`,
  ]);
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  const pids: Started = JSON.parse(line);
  t.after(() => {
    parent.kill('SIGKILL');
    for (const pid of [pids.child, pids.detached]) if (exists(pid)) process.kill(pid, 'SIGKILL');
  });
  return { parent, ...pids };
}

describe('when its parent ends, a process', { skip, concurrency: 4 }, () => {
  it('ends too, unless it is detached, when the parent is killed', async (t) => {
    const { parent, child, detached } = await startParent(t, 'setInterval(() => {}, 1000);');
    assert.ok(exists(child) && exists(detached));
    parent.kill('SIGKILL');
    await until('the child has ended', () => !exists(child));
    assert.ok(exists(detached));
  });

  it('ends too when the parent exits without closing its manager', async (t) => {
    const { child, detached } = await startParent(t, 'process.exit(0);');
    await until('the child has ended', () => !exists(child));
    assert.ok(exists(detached));
  });

  it('is ended by the manager when that is closed, unless it is detached', async (t) => {
    const { parent, child, detached } = await startParent(t, 'await manager.close();');
    // Detached processes do not keep the parent running.
    const [code] = await once(parent, 'exit');
    assert.equal(code, 0);
    assert.ok(!exists(child) && exists(detached));
  });

  it('does not run its program when the parent has ended before it asked for the signal', async () => {
    const { startChild } = await import('#infra/process-manager/child-process.ts');
    let wanted = '';
    // The script of a child whose parent is another process than the one that it was started by.
    const child = startChild('one', 'true', {});
    for (const argument of child.spawnargs) if (argument.includes('PPID')) wanted = argument;
    assert.notEqual(wanted, '');
    const orphan = spawn('sh', ['-c', wanted, '1', 'echo', 'ran']);
    let text = '';
    orphan.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(orphan, 'close');
    assert.deepEqual([code, text], [1, '']);
  });

  it('ends with the thread that has started it, so only the main thread may start one', async (t) => {
    const worker = new Worker(
      `const { spawn } = require('node:child_process');
       const { parentPort } = require('node:worker_threads');
       const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'sleep', '60']);
       parentPort.postMessage(child.pid);
       setInterval(() => {}, 1000);`,
      { eval: true },
    );
    const [pid] = await once(worker, 'message');
    t.after(() => exists(pid) && process.kill(pid, 'SIGKILL'));
    assert.ok(exists(pid));
    await until('the program runs', async () => {
      const { readStatusFile } = await import('#infra/process-manager/proc-file.ts');
      return readStatusFile(pid)?.['Name'] === 'sleep';
    });
    await worker.terminate();
    await until('the child has ended', () => !exists(pid));

    const other = new Worker(
      new URL(
        `data:text/javascript,${encodeURIComponent(`${program}
        const { parentPort } = await import('node:worker_threads');
        parentPort.postMessage(await started('child', {}).catch(({ code }) => code));
        parentPort.postMessage(await started('detached', { detach: true }));`)}`,
      ),
    );
    const [code] = await once(other, 'message');
    assert.equal(code, 'CV_PROCESS_START');
    const [detached] = await once(other, 'message');
    await other.terminate();
    assert.ok(exists(detached));
    process.kill(detached, 'SIGKILL');
  });
});
