import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCommandLine } from '#cmd/netctl/command-line.ts';
import { type Command, ExitCode } from '#netctl/command.ts';

const cli: Command = {
  name: 'cli',
  summary: 'Run a command',
  arguments: [
    { name: 'node', description: 'name' },
    { name: 'words', description: 'words', isVariadic: true },
  ],
  options: [{ name: 'since-time', value: 'time', description: 'time' }],
  examples: [],
  passesOptionsOn: true,
  run: async () => ExitCode.Success,
};

const build = { version: 'v1', date: '', commit: '1234567' };

describe('the command line of netctl', () => {
  it('accepts the options of all commands before and after the command', async () => {
    const argv = ['--server', 'a', '-o', 'json', 'cli', '--server', 'b:1', '--since-time', '1h'];
    const { input, global } = await parseCommandLine([...argv, 'n', 'show'], [cli], build);
    assert.deepEqual(global.servers, ['a', 'b:1']);
    assert.equal(global.output, 'json');
    assert.equal(input.options['since-time'], '1h');
  });

  it('leaves options after the arguments to the command, where it says so', async () => {
    const { input } = await parseCommandLine(
      ['cli', 'n', 'show', 'run', '--max', '-o'],
      [cli],
      build,
    );
    assert.deepEqual(input.arguments, { node: ['n'], words: ['show', 'run', '--max', '-o'] });
  });
});
