/** The error codes of the CNI specification. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { versions } from '#plugins/podmanager/runtime-call/version.ts';
import { declareUnless, withoutCompiler } from '#test/support/requirements.ts';
import { makeNode, type RunningAgent, startAgent } from '../agent/harness.ts';
import { buildExecutable, builds } from './executable.ts';
import { type Call, folder, podArgs, type Runtime, runtimeOf } from './runtime.ts';

for (const [build, options] of Object.entries(builds))
  await declareUnless(withoutCompiler(), `contiv-cni, ${build} build`, () =>
    describe(`contiv-cni, ${build} build`, () => declare(runtimeOf(buildExecutable(options)))),
  );

function declare(run: Runtime): void {
  describe('returns the error code of the specification for', () => {
    let running: RunningAgent;
    before(async () => {
      running = await startAgent(makeNode());
    });
    after(() => running.stop());
    const absent = { grpcServer: join(folder, 'absent.sock') };
    const deep = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const good = { container: 'c1', ifname: 'eth0', netns: '/run/netns/x', args: podArgs('web') };
    const cases: readonly (readonly [title: string, code: number, call: Call, msg: RegExp])[] = [
      ['no command', 4, { command: '' }, /CNI_COMMAND is not set/],
      ['an unknown command', 4, { command: 'UP' }, /unknown CNI_COMMAND: UP/],
      ['ADD with nothing', 4, { command: 'ADD' }, /CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS/],
      ['ADD without a namespace', 4, { ...good, command: 'ADD', netns: '' }, /requires CNI_NETNS/],
      [
        'CHECK without a namespace',
        4,
        { ...good, command: 'CHECK', netns: '' },
        /requires CNI_NETNS/,
      ],
      ['DEL without a container', 4, { ...good, command: 'DEL', container: '' }, /CNI_CONTAINERID/],
      ['an invalid container ID', 4, { ...good, command: 'ADD', container: '../x' }, /\.\.\/x/],
      ['an interface with a slash', 4, { ...good, command: 'ADD', ifname: 'a/b' }, /CNI_IFNAME/],
      [
        'an interface of 16 letters',
        4,
        { ...good, command: 'ADD', ifname: 'a'.repeat(16) },
        /IFNAME/,
      ],
      ['an interface of 16 bytes', 4, { ...good, command: 'ADD', ifname: 'é'.repeat(8) }, /IFNAME/],
      ['an interface with a bell', 4, { ...good, command: 'ADD', ifname: 'a\u0007' }, /IFNAME/],
      ['an interface called ..', 4, { ...good, command: 'ADD', ifname: '..' }, /CNI_IFNAME/],
      ['no configuration', 6, { ...good, command: 'ADD', config: '' }, /not valid JSON/],
      [
        'a truncated configuration',
        6,
        { ...good, command: 'ADD', config: '{"a' },
        /not valid JSON/,
      ],
      ['a list as configuration', 7, { ...good, command: 'ADD', config: '[]' }, /an object/],
      ['no name', 7, { ...good, command: 'ADD', config: { name: '' } }, /^name/],
      [
        'no agent',
        7,
        { ...good, command: 'ADD', config: { grpcServer: undefined } },
        /^grpcServer/,
      ],
      [
        'a number as agent',
        7,
        { ...good, command: 'ADD', config: { grpcServer: 1 } },
        /grpcServer/,
      ],
      [
        'an agent without a port',
        7,
        { ...good, command: 'ADD', config: { grpcServer: 'localhost' } },
        /grpcServer/,
      ],
      [
        'CHECK with an invalid result',
        7,
        { ...good, command: 'CHECK', config: { prevResult: [] } },
        /prevResult is invalid: expected an object/,
      ],
      [
        'an unsupported newer version',
        1,
        { ...good, command: 'ADD', config: { cniVersion: '2.0.0' } },
        /2\.0\.0/,
      ],
      [
        'a version too old',
        1,
        { ...good, command: 'ADD', config: { cniVersion: '0.0.9' } },
        /0\.0\.9/,
      ],
      [
        'CHECK in 0.3.1',
        1,
        { ...good, command: 'CHECK', config: { cniVersion: '0.3.1' } },
        /no CHECK/,
      ],
      ['GC in 1.0.0', 1, { command: 'GC', config: { cniVersion: '1.0.0' } }, /no GC/],
      ['STATUS in 0.4.0', 1, { command: 'STATUS', config: { cniVersion: '0.4.0' } }, /no STATUS/],
      [
        'ADD behind another plugin',
        7,
        { ...good, command: 'ADD', config: { prevResult: {} } },
        /first of its chain/,
      ],
      ['CHECK without a result', 7, { ...good, command: 'CHECK' }, /requires the prevResult/],
      ['GC without a list', 7, { command: 'GC' }, /valid-attachments/],
      [
        'GC with a broken list',
        7,
        { command: 'GC', config: { 'cni.dev/valid-attachments': [{ ifname: 'eth0' }] } },
        /containerID/,
      ],
      [
        'an IPAM plugin with a path',
        7,
        { ...good, command: 'ADD', config: { ipam: { type: '../sh' } } },
        /ipam\.type/,
      ],
      ['ADD without an agent', 11, { ...good, command: 'ADD', config: absent }, /is unreachable/],
      ['DEL without an agent', 11, { ...good, command: 'DEL', config: absent }, /is unreachable/],
      [
        'GC without an agent',
        11,
        { command: 'GC', config: { ...absent, 'cni.dev/valid-attachments': [] } },
        /is unreachable/,
      ],
      ['STATUS without an agent', 50, { command: 'STATUS', config: absent }, /is unreachable/],
      ['VERSION as an unknown command', 4, { command: 'version' }, /unknown CNI_COMMAND: version/],
      [
        'a socket path that is too long',
        7,
        { ...good, command: 'ADD', config: { grpcServer: `/${'x'.repeat(107)}` } },
        /^grpcServer/,
      ],
      [
        'a socket path with a NUL',
        7,
        { ...good, command: 'ADD', config: { grpcServer: '/run/x\u0000y' } },
        /^grpcServer/,
      ],
      [
        'an agent with a port that does not exist',
        7,
        { ...good, command: 'ADD', config: { grpcServer: '127.0.0.1:65536' } },
        /^grpcServer/,
      ],
      [
        'an agent with a name',
        7,
        { ...good, command: 'ADD', config: { grpcServer: 'agent.example:9111' } },
        /^grpcServer/,
      ],
      [
        'an agent on a port without a listener',
        11,
        { ...good, command: 'ADD', config: { grpcServer: 'localhost:1' } },
        /is unreachable at localhost:1/,
      ],
      [
        'a log file that is a number',
        7,
        { ...good, command: 'ADD', config: { logFile: 1 } },
        /^logFile/,
      ],
      [
        'a bare byte order mark',
        6,
        { ...good, command: 'ADD', config: '\uFEFF{}' },
        /not valid JSON/,
      ],
      [
        'a configuration that is nested too deep',
        6,
        { ...good, command: 'ADD', config: deep(513) },
        /not valid JSON/,
      ],
      [
        'a deep configuration without an agent',
        7,
        { ...good, command: 'ADD', config: deep(512) },
        /^grpcServer/,
      ],
      [
        'a configuration of more than 8 MiB',
        7,
        { ...good, command: 'ADD', config: { note: 'x'.repeat(8 << 20) } },
        /longer than 8 MiB/,
      ],
      [
        'variables of more than a megabyte',
        4,
        { ...good, command: 'ADD', env: variables(9, 120_000) },
        /CNI_\* are too long/,
      ],
    ];
    for (const [title, code, call, msg] of cases)
      it(title, async () => {
        const base = { cniVersion: '1.1.0', name: 'k8s', grpcServer: running.socket };
        const answer = await run(base, call);
        assert.equal(answer?.code, code, JSON.stringify(answer));
        assert.match(answer?.msg ?? '', msg);
        assert.match(answer?.cniVersion ?? '', /^(0\.3\.1|0\.4\.0|1\.0\.0|1\.1\.0)$/);
      });

    it('no request: VERSION always succeeds', async () => {
      const answer = await run(absent, { command: 'VERSION', config: { cniVersion: '1.0.0' } });
      assert.deepEqual(answer, {
        cniVersion: '1.0.0',
        supportedVersions: [...versions],
      });
      for (const config of ['', 'null', '{"cniVersion":"1.0.0"', '{"cniVersion":7}']) {
        const bare = await run(absent, { command: 'VERSION', config });
        assert.equal(bare?.cniVersion, '1.1.0');
      }
    });
  });
}

function variables(count: number, bytes: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => `CNI_EXTRA_${index}`);
  return Object.fromEntries(names.map((name) => [name, 'x'.repeat(bytes)]));
}
