/** contiv-cni in this process, with an agent on simulated VPP and Linux. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorKinds } from '#cmd/cni/cni-error.ts';
import { runCni } from '#cmd/cni/run-cni.ts';
import { versions } from '#cmd/cni/version.ts';
import { makeNode, type RunningAgent, startAgent, until } from '../agent/harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'contiv-cni-'));
after(() => rmSync(folder, { recursive: true }));

interface Call {
  readonly command: string;
  readonly container?: string;
  readonly ifname?: string;
  readonly netns?: string;
  readonly args?: string;
  readonly env?: Record<string, string>;
  readonly config?: object | string;
}

interface CniResult {
  readonly cniVersion: string;
  readonly code?: number;
  readonly msg?: string;
  readonly details?: string;
  readonly interfaces?: readonly { readonly mac?: string }[];
  readonly ips?: readonly Record<string, unknown>[];
  readonly [field: string]: unknown;
}

function podArgs(name: string): string {
  return `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`;
}

/** @param base configuration that the one of the call overrides */
async function run(base: object, call: Call): Promise<CniResult | undefined> {
  const { command, container, ifname, netns, args, env = {}, config = {} } = call;
  const text = typeof config === 'string' ? config : JSON.stringify({ ...base, ...config });
  const environment = {
    CNI_COMMAND: command,
    CNI_PATH: folder,
    ...(container !== undefined && { CNI_CONTAINERID: container }),
    ...(ifname !== undefined && { CNI_IFNAME: ifname }),
    ...(netns !== undefined && { CNI_NETNS: netns }),
    ...(args !== undefined && { CNI_ARGS: args }),
    ...env,
  };
  const { output, failure } = await runCni(environment, () => text);
  assert.equal(failure !== undefined, output.includes('"code"'));
  return output === '' ? undefined : JSON.parse(output);
}

describe('contiv-cni with an agent', () => {
  let running: RunningAgent;
  let base: object;
  before(async () => {
    running = await startAgent(makeNode());
    base = { cniVersion: '1.1.0', name: 'k8s', type: 'contiv-cni', grpcServer: running.socket };
    await until(async () => (await run(base, { command: 'STATUS' })) === undefined);
  });
  after(() => running.stop());

  function pod(name: string) {
    const netns = `/run/netns/${name}`;
    running.node.linux.addNamespace(netns);
    return { container: `id-${name}`, ifname: 'eth0', netns, args: podArgs(name) };
  }

  for (const version of ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'])
    it(`supports version ${version}`, async () => {
      const one = pod(`speaks-${version.replaceAll('.', '-')}`);
      const config = { cniVersion: version };
      const added = await run(base, { command: 'ADD', ...one, config });
      const address = String(added?.ips?.[0]?.['address']);
      assert.match(address, /^10\.1\.1\.\d+\/32$/);
      const mac = added?.interfaces?.[0]?.mac ?? '';
      assert.match(mac, /^02(:[\da-f]{2}){5}$/);
      assert.deepEqual(added, {
        cniVersion: version,
        interfaces: [{ name: 'eth0', mac, sandbox: one.netns }],
        ips: [
          {
            ...(version < '1' && { version: '4' }),
            address,
            gateway: '10.1.1.1',
            interface: 0,
          },
        ],
        routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }],
        dns: {},
      });
      const check = { ...config, prevResult: added };
      const checked = await run(base, { command: 'CHECK', ...one, config: check });
      if (version < '0.4') assert.equal(checked?.code, errorKinds.version.code);
      else assert.equal(checked, undefined);
      assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
      assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
    });

  for (const version of ['', '0.1.0', '0.2.0'])
    it(`supports ${version === '' ? 'a configuration without a version' : `version ${version}`}`, async () => {
      const one = pod(`speaks-${version.replaceAll('.', '-')}old`);
      const config = { cniVersion: version === '' ? undefined : version };
      const added = await run(base, { command: 'ADD', ...one, config });
      const ip = String((added?.['ip4'] as { ip?: string } | undefined)?.ip);
      assert.match(ip, /^10\.1\.1\.\d+\/32$/);
      assert.deepEqual(added, {
        cniVersion: version || '0.1.0',
        ip4: { ip, gateway: '10.1.1.1', routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }] },
        dns: {},
      });
      assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
    });

  it('returns the same result for a repeated ADD', async () => {
    const one = pod('again');
    const first = await run(base, { command: 'ADD', ...one });
    assert.deepEqual(await run(base, { command: 'ADD', ...one }), first);
    await run(base, { command: 'DEL', ...one });
  });

  it('reports a damaged attachment on CHECK', async () => {
    const one = pod('damaged');
    const prevResult = await run(base, { command: 'ADD', ...one });
    const check = { command: 'CHECK', ...one, config: { prevResult } };
    assert.equal(await run(base, check), undefined);
    const other = { ...prevResult, ips: [{ address: '10.9.9.9/32' }] };
    const wrong = await run(base, { ...check, config: { prevResult: other } });
    assert.equal(wrong?.code, errorKinds.refused.code);
    assert.match(wrong?.msg ?? '', /has 10\.1\.1\.\d+, not 10\.9\.9\.9/);
    await run(base, { command: 'DEL', ...one });
    assert.match((await run(base, check))?.msg ?? '', /the attachment does not exist/);
  });

  it('deletes attachments that are unknown to the runtime on GC, and releases their addresses', async () => {
    const kept = pod('kept');
    const stale = pod('stale');
    const [first, second] = [kept, stale].map((one) => run(base, { command: 'ADD', ...one }));
    const address = (await second)?.ips?.[0]?.['address'];
    await first;
    const valid = [{ containerID: kept.container, ifname: 'eth0' }];
    const config = { 'cni.dev/valid-attachments': valid };
    assert.equal(await run(base, { command: 'GC', config }), undefined);
    const { body } = await running.get('/contiv/v1/ipam/allocations');
    assert.ok(!JSON.stringify(body).includes(String(address).replace('/32', '')));
    assert.match(JSON.stringify(body), /kept/);
    const none = { 'cni.dev/valid-attachments': null };
    assert.equal(await run(base, { command: 'GC', config: none }), undefined);
    const { body: left } = await running.get('/contiv/v1/ipam/allocations');
    assert.doesNotMatch(JSON.stringify(left), /kept/);
  });

  it('runs the IPAM plugin of the configuration before and after the agent', async () => {
    const log = join(folder, 'ipam.log');
    const result = JSON.stringify({ cniVersion: '1.0.0', ips: [{ address: '10.1.1.77/24' }] });
    const script = `#!/bin/sh\necho "$CNI_COMMAND $(cat)" >>${log}\n[ "$CNI_COMMAND" = ADD ] && echo '${result}'\nexit 0\n`;
    const plugin = join(folder, 'fake-ipam');
    writeFileSync(plugin, script);
    chmodSync(plugin, 0o755);
    const one = pod('outside');
    const config = { ipam: { type: 'fake-ipam', subnet: 'usePodCidr', note: 1 } };
    await run(base, { command: 'ADD', ...one, config });
    await run(base, { command: 'DEL', ...one, config });
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    assert.deepEqual(
      lines.map((line) => line.slice(0, 3)),
      ['ADD', 'DEL'],
    );
    for (const line of lines)
      assert.deepEqual(JSON.parse(line.slice(4)).ipam, { ...config.ipam, subnet: '10.1.1.0/24' });
  });

  it('releases the address of an IPAM plugin when the agent rejects the request', async () => {
    const log = join(folder, 'refused.log');
    const plugin = join(folder, 'refused-ipam');
    const result = '{"ips":[{"address":"10.1.1.78/24"}]}';
    writeFileSync(plugin, `#!/bin/sh\necho "$CNI_COMMAND" >>${log}\necho '${result}'\n`);
    chmodSync(plugin, 0o755);
    const config = { ipam: { type: 'refused-ipam' } };
    const one = { ...pod('refused'), args: 'K8S_POD_NAME=NO' };
    const answer = await run(base, { command: 'ADD', ...one, config });
    assert.equal(answer?.code, errorKinds.environment.code);
    assert.equal(readFileSync(log, 'utf8'), 'ADD\nDEL\n');
  });

  it('forwards the error of an IPAM plugin', async () => {
    const plugin = join(folder, 'failing-ipam');
    writeFileSync(plugin, `#!/bin/sh\necho '{"code":110,"msg":"no more","details":"x"}'\nexit 1\n`);
    chmodSync(plugin, 0o755);
    const one = pod('failing');
    const config = { ipam: { type: 'failing-ipam' } };
    const answer = await run(base, { command: 'ADD', ...one, config });
    assert.deepEqual(answer, {
      cniVersion: '1.1.0',
      code: 110,
      msg: `${plugin}: no more`,
      details: 'x',
    });
    const missing = { ipam: { type: 'nobody' } };
    const gone = await run(base, { command: 'ADD', ...one, config: missing });
    assert.equal(gone?.code, errorKinds.config.code);
  });

  it('calls DEL on an IPAM plugin after its ADD failed, and always returns a code', async () => {
    const log = join(folder, 'odd.log');
    const plugin = join(folder, 'odd-ipam');
    const one = pod('odd');
    const config = { ipam: { type: 'odd-ipam' } };
    const says: readonly (readonly [output: string, status: number])[] = [
      ['{"code":110,"msg":"no more"}', 1],
      ['{"msg":"no code"}', 1],
      ['{"code":0,"msg":"none","details":{"a":1}}', 1],
      ['', 0],
      ['null', 0],
      ['{"ips":[]}', 0],
    ];
    for (const [output, status] of says) {
      writeFileSync(
        plugin,
        `#!/bin/sh\necho "$CNI_COMMAND" >>${log}\necho '${output}'\nexit ${status}\n`,
      );
      chmodSync(plugin, 0o755);
      writeFileSync(log, '');
      const answer = await run(base, { command: 'ADD', ...one, config });
      const code = output.includes('110') ? 110 : errorKinds.delegate.code;
      assert.equal(answer?.code, code, JSON.stringify(answer));
      assert.equal(typeof (answer?.details ?? ''), 'string');
      assert.equal(readFileSync(log, 'utf8'), 'ADD\nDEL\n');
    }
  });

  it('deletes with any prevResult', async () => {
    for (const prevResult of [{}, [], '', 7, null, { ip4: { ip: '10.1.1.9/32' } }, { ips: 1 }]) {
      const call = { command: 'DEL', container: 'id-any', ifname: 'eth0', config: { prevResult } };
      assert.equal(await run(base, call), undefined, JSON.stringify(prevResult));
    }
  });

  it('ignores on CHECK the addresses that other plugins of the chain have added', async () => {
    const one = pod('chained');
    const added = await run(base, { command: 'ADD', ...one });
    const interfaces = [...added!.interfaces!, { name: 'veth7' }, { name: 'eth0' }];
    const others = [1, 2].map((index) => ({ address: '10.9.9.9/32', interface: index }));
    const prevResult = { ...added, interfaces, ips: [...added!.ips!, ...others] };
    assert.equal(await run(base, { command: 'CHECK', ...one, config: { prevResult } }), undefined);
    await run(base, { command: 'DEL', ...one });
  });

  it('deletes only attachments of its network on GC', async () => {
    const one = pod('of-another');
    await run(base, { command: 'ADD', ...one, config: { name: 'another' } });
    const config = { 'cni.dev/valid-attachments': [] };
    assert.equal(await run(base, { command: 'GC', config }), undefined);
    const left = async () =>
      JSON.stringify((await running.get('/contiv/v1/ipam/allocations')).body);
    assert.match(await left(), /of-another/);
    assert.equal(
      await run(base, { command: 'GC', config: { ...config, name: 'another' } }),
      undefined,
    );
    assert.doesNotMatch(await left(), /of-another/);
  });

  it('rejects a call without the name of the pod', async () => {
    const answer = await run(base, { command: 'ADD', ...pod('nameless'), args: '' });
    assert.equal(answer?.code, errorKinds.environment.code);
    assert.match(answer?.msg ?? '', /K8S_POD_NAME/);
  });
});

describe('contiv-cni returns the error code of the specification for', () => {
  const base = { cniVersion: '1.1.0', name: 'k8s', grpcServer: join(folder, 'nobody.sock') };
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
    ['a truncated configuration', 6, { ...good, command: 'ADD', config: '{"a' }, /not valid JSON/],
    ['a list as configuration', 7, { ...good, command: 'ADD', config: '[]' }, /an object/],
    ['no name', 7, { ...good, command: 'ADD', config: { name: '' } }, /^name/],
    ['no agent', 7, { ...good, command: 'ADD', config: { grpcServer: undefined } }, /^grpcServer/],
    ['a number as agent', 7, { ...good, command: 'ADD', config: { grpcServer: 1 } }, /grpcServer/],
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
    ['ADD without an agent', 11, { ...good, command: 'ADD' }, /is unreachable/],
    ['DEL without an agent', 11, { ...good, command: 'DEL' }, /is unreachable/],
    [
      'GC without an agent',
      11,
      { command: 'GC', config: { 'cni.dev/valid-attachments': [] } },
      /is unreachable/,
    ],
    ['STATUS without an agent', 50, { command: 'STATUS' }, /is unreachable/],
  ];
  for (const [title, code, call, msg] of cases)
    it(title, async () => {
      const answer = await run(base, call);
      assert.equal(answer?.code, code, JSON.stringify(answer));
      assert.match(answer?.msg ?? '', msg);
      assert.match(answer?.cniVersion ?? '', /^(0\.3\.1|0\.4\.0|1\.0\.0|1\.1\.0)$/);
    });

  it('no request: VERSION always succeeds', async () => {
    const answer = await run(base, { command: 'VERSION', config: { cniVersion: '1.0.0' } });
    assert.deepEqual(answer, {
      cniVersion: '1.0.0',
      supportedVersions: [...versions],
    });
    const bare = await run(base, { command: 'VERSION', config: '' });
    assert.equal(bare?.cniVersion, '1.1.0');
  });
});

describe('contiv-cni with a server', () => {
  const say = (text: string) =>
    new Promise<{ socket: string; close: () => void }>((resolve) => {
      const socket = join(folder, `${Math.abs(text.length)}-${text.slice(9, 12)}.sock`);
      const server = createServer((connection) => {
        connection.on('error', () => undefined);
        connection.once('data', () => connection.end(text));
      }).listen(socket, () => resolve({ socket, close: () => server.close() }));
    });
  const answers: readonly (readonly [title: string, text: string, code: number])[] = [
    ['that closes the connection', '', 11],
    ['that truncates the reply', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"a"', 11],
    ['of another protocol', 'SSH-2.0-OpenSSH\r\n\r\n', 11],
    ['that replies with invalid JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n<a>', 5],
    ['that replies with null', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull', 5],
    ['that rejects without a message', 'HTTP/1.1 500 No\r\ncontent-length: 4\r\n\r\nnull', 5],
    ['that rejects', 'HTTP/1.1 404 No\r\ncontent-length: 15\r\n\r\n{"message":"x"}', 100],
    [
      'that is not ready',
      'HTTP/1.1 200 OK\r\ncontent-length: 27\r\n\r\n{"result":11,"error":"wait"}'.replace(
        '27',
        '28',
      ),
      11,
    ],
  ];
  for (const [title, text, code] of answers)
    it(title, async () => {
      const { socket, close } = await say(text);
      const config = { cniVersion: '1.0.0', name: 'k8s', grpcServer: socket };
      const answer = await run(config, { command: 'DEL', container: 'c', ifname: 'eth0' });
      close();
      assert.equal(answer?.code, code, JSON.stringify(answer));
    });

  it('that may have executed the ADD: the address of an IPAM plugin stays allocated until the DEL', async () => {
    const log = join(folder, 'unsure.log');
    const plugin = join(folder, 'unsure-ipam');
    const result = '{"ips":[{"address":"10.1.1.78/24"}]}';
    writeFileSync(plugin, `#!/bin/sh\necho "$CNI_COMMAND" >>${log}\necho '${result}'\n`);
    chmodSync(plugin, 0o755);
    const { socket, close } = await say('');
    const config = {
      cniVersion: '1.0.0',
      name: 'k8s',
      grpcServer: socket,
      ipam: { type: 'unsure-ipam' },
    };
    const call = { command: 'ADD', container: 'c', ifname: 'eth0', netns: '/run/netns/x' };
    const answer = await run(config, call);
    close();
    assert.equal(answer?.code, errorKinds.later.code);
    assert.equal(readFileSync(log, 'utf8'), 'ADD\n');
  });

  it('on an IPv6 address', async (t) => {
    const server = createServer((connection) =>
      connection.once('data', () =>
        connection.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
      ),
    );
    const listens = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(0, '::1', () => resolve(true));
    });
    if (!listens) return t.skip('needs IPv6 on the loopback');
    const { port } = server.address() as { port: number };
    const config = { cniVersion: '1.0.0', name: 'k8s', grpcServer: `[::1]:${port}` };
    const answer = await run(config, { command: 'DEL', container: 'c', ifname: 'eth0' });
    server.close();
    assert.equal(answer, undefined);
  });
});
