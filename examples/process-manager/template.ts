/** Runs a process from a template, and follows its status: `node examples/process-manager/template.ts` */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessManager, silentLogger, systemClock, systemRandom } from 'contiv-vswitch';

const folder = await mkdtemp(join(tmpdir(), 'processes-'));
const deps = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  templatePath: join(folder, 'templates'),
};

// The template can be written by hand, or with a process.
const first = new ProcessManager(deps);
await first.init();
await first.create('writer', 'sh', {
  args: ['-c', 'exec sleep 60'],
  notify: true,
  template: { name: 'sleeper', runOnStartup: true },
});
await first.close();

// The next program with the folder starts the process by itself.
const second = new ProcessManager(deps);
await second.init();
console.log(
  'templates:',
  second
    .templates()
    .map(({ name }) => name)
    .join(),
);
const sleeper = second.byName('sleeper')!;
console.log('alive:', sleeper.isAlive, 'command:', sleeper.command, sleeper.args);

const end = sleeper.stopAndWait();
let last = '';
for await (const status of sleeper.notifications!) {
  last = status;
  if (status === 'terminated') break;
}
console.log('status:', last, 'end:', await end);

await second.close();
await rm(folder, { recursive: true });
