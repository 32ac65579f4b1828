import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ExitCode, type OutputFormat } from '#netctl/command.ts';
import { type UndeployContext, undeployFrom } from '#netctl/commands/undeploy.ts';
import { createOutput } from '#netctl/output/output.ts';

const CONFIGURATION = 'etc/cni/net.d/10-contiv-vpp.conflist';
const PROGRAM = 'opt/cni/bin/contiv-cni';

describe('netctl undeploy', () => {
  let root = '';
  let printed = '';
  let warned = '';
  let calls: (readonly string[])[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'netctl-undeploy-'));
    for (const file of [CONFIGURATION, PROGRAM]) {
      mkdirSync(join(root, file, '..'), { recursive: true });
      writeFileSync(join(root, file), '');
    }
    [printed, warned, calls] = ['', '', []];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function context({
    agrees,
    code = 0,
    format = 'table' as OutputFormat,
  }: {
    agrees?: boolean;
    code?: number;
    format?: OutputFormat;
  } = {}): UndeployContext {
    return {
      localSocket: join(root, 'agent.sock'),
      confirm: async () => agrees,
      runAgent: async (args) => {
        // Nothing may call the agent any more, and its program is needed until it has ended.
        assert.deepEqual([CONFIGURATION, PROGRAM].map(has), [false, true]);
        calls.push(args);
        return code;
      },
      output: createOutput({
        format,
        write: (text) => {
          printed += text;
        },
        writeBytes: () => undefined,
        warn: () => undefined,
        yamlText: undefined,
        isWide: false,
        hasHeaders: true,
        width: 80,
        hasColors: false,
      }),
      progress: () => undefined,
      warn: (text) => {
        warned += `${text}\n`;
      },
    };
  }

  function has(file: string): boolean {
    return existsSync(join(root, file));
  }

  it('lists and changes nothing with --dry-run', async () => {
    const options = { 'dry-run': true } as const;
    assert.equal(await undeployFrom(root, context(), { options }), ExitCode.Success);
    assert.match(printed, /^ +1 {2}\/etc\/cni\/net\.d\/10-contiv-vpp\.conflist +exists$/m);
    assert.match(printed, /^ +2 {2}values in VPP and Linux, .* by contiv-agent undeploy$/m);
    assert.ok(has(CONFIGURATION) && has(PROGRAM));
    assert.deepEqual(calls, []);
  });

  it('asks, and needs a terminal or --yes', async () => {
    for (const [agrees, message] of [
      [undefined, /there is no terminal/],
      [false, /nothing was changed/],
    ] as const)
      await assert.rejects(
        undeployFrom(root, context(agrees === false ? { agrees } : {}), { options: {} }),
        {
          code: 'CV_NETCTL_UNDEPLOY',
          message,
        },
      );
    assert.ok(has(CONFIGURATION) && has(PROGRAM));
    assert.deepEqual(calls, []);
  });

  it('removes all in their order, with the flags of the agent', async () => {
    const options = {
      yes: true,
      'config-dir': '/etc/contiv',
      'microservice-label': 'node1',
    } as const;
    assert.equal(await undeployFrom(root, context(), { options }), ExitCode.Success);
    assert.deepEqual(calls, [
      ['undeploy', '--config-dir', '/etc/contiv', '--microservice-label', 'node1'],
    ]);
    assert.ok(!has(CONFIGURATION) && !has(PROGRAM));
    // Again: nothing is left.
    calls = [];
    writeFileSync(join(root, PROGRAM), '');
    assert.equal(
      await undeployFrom(root, context({ agrees: true }), { options: {} }),
      ExitCode.Success,
    );
  });

  it('keeps the rest when the agent could not remove everything', async () => {
    const options = { yes: true } as const;
    assert.equal(await undeployFrom(root, context({ code: 1 }), { options }), ExitCode.Failure);
    assert.match(warned, /not removed\. Correct the cause/);
    assert.ok(has(PROGRAM));
  });

  it('refuses where only root may see whether the agent runs', async (t) => {
    if (process.getuid!() !== 0) return t.skip('needs root, to be another user');
    const server = createServer().listen(join(root, 'agent.sock'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      chmodSync(root, 0o755);
      chmodSync(join(root, 'agent.sock'), 0o600);
      process.seteuid!(65_534);
      const refused = undeployFrom(root, context(), { options: { yes: true } });
      await assert.rejects(refused, { code: 'CV_NETCTL_UNDEPLOY' });
    } finally {
      process.seteuid!(0);
      server.close();
    }
    assert.ok(has(CONFIGURATION));
  });

  it('refuses while the agent runs', async () => {
    const server = createServer().listen(join(root, 'agent.sock'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      const options = { yes: true } as const;
      await assert.rejects(undeployFrom(root, context(), { options }), /agent of this node runs/);
      const dry = { options: { 'dry-run': true } } as const;
      assert.equal(await undeployFrom(root, context({ format: 'json' }), dry), ExitCode.Success);
      assert.equal((JSON.parse(printed) as { agentRuns: boolean }).agentRuns, true);
    } finally {
      server.close();
    }
  });
});
