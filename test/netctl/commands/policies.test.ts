import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

it('netctl policies names the policies that permit less than defined', async () => {
  using program = new NetctlProgram();
  const pod = { name: 'shop/web', attachment: 'c1/eth0', addresses: ['10.1.1.2'], values: [] };
  await using agent = await fakeAgent({
    'contiv/v1/policy/pods': [
      { ...pod, ingress: ['shop/web', 'shop/db'], egress: [], notAsDefined: ['shop/db'] },
    ],
  });
  const { stdout } = await program.run('policies', '--server', agent.address);
  assert.match(stdout, /shop\/web .+ db permits less than defined/);
});

it('netctl policies enforcement lists what nodes do not enforce', async () => {
  using program = new NetctlProgram();
  const policies = [{ policy: 'tenant', code: 'NotCarried', reason: 'VPP compares no ports' }];
  const path = 'contiv/v1/policy/enforcement';
  const reply = { state: 'settled', problem: '', applied: '0123456789', policies };
  await using some = await fakeAgent({ [path]: reply });
  const run = async (...more: string[]) =>
    (await program.run('policies', 'enforcement', ...more)).stdout;
  assert.match(
    await run('--server', some.address, '-o', 'wide'),
    /settled +01234567 +tenant +NotCarried +VPP compares no ports/,
  );
  const json = JSON.parse(await run('--server', some.address, '-o', 'json')) as object[];
  assert.ok(JSON.stringify(json).includes('"applied":"0123456789"'));
  await using none = await fakeAgent({ [path]: { ...reply, policies: [] } });
  assert.match(await run('--server', none.address), /all are enforced/);
  const problem = 'VPP is not connected';
  const lost = { state: 'failed', problem, applied: '', policies: [] };
  await using without = await fakeAgent({ [path]: lost });
  assert.match(await run('--server', without.address), /failed +all +VPP is not connected/);
});

it('netctl policies explains a pod of a workload', async () => {
  using program = new NetctlProgram();
  const isolation = { policies: [], rules: [] };
  const attachment = { attachment: 'c1/eth0', addresses: ['10.1.1.2'], values: [] };
  await using agent = await fakeAgent({
    'contiv/v1/policy/connectivity': {
      from: 'shop/web-1',
      to: 'shop/web-1',
      port: null,
      verdict: 'permitted',
      ports: 'All Connections',
      otherFamilies: null,
      egress: null,
      ingress: null,
    },
    'contiv/v1/policy/pods/shop/web-1': {
      name: 'shop/web-1',
      renderer: 'acl',
      attachments: [{ ...attachment, ingress: isolation, egress: isolation }],
      problems: {},
      limits: {},
    },
  });
  const { stdout } = await program.run('policies', 'shop/web', '--server', agent.address);
  assert.match(stdout, /^shop\/web-1 \(10\.1\.1\.2\) on /);
});

it('netctl calls a node of --server by its own name, and accepts that and the address', async () => {
  using program = new NetctlProgram();
  await using agent = await fakeAgent({
    'contiv/v1/ipam': {
      nodeId: 1,
      nodeName: 'vpp1',
      nodeIP: '192.168.16.1',
      podSubnetThisNode: '',
      vppHostNetwork: '',
      config: {},
    },
    'contiv/v1/policy/pods': [
      {
        name: 'shop/web',
        attachment: 'c1/eth0',
        addresses: ['10.1.1.2'],
        values: [],
        ingress: [],
        egress: [],
        notAsDefined: [],
      },
    ],
  });
  for (const node of ['vpp1', agent.address, '127.0.0.1']) {
    const { stdout } = await program.run('policies', node, '--server', agent.address);
    assert.match(stdout, /^vpp1 +shop\/web/m, node);
  }
});

it('netctl policies -o json names the node beside the policies of a pod', async () => {
  using program = new NetctlProgram();
  await using agent = await fakeAgent({
    'contiv/v1/policy/pods': [{ name: 'shop/web' }],
    'contiv/v1/policy/pods/shop/web': { name: 'shop/web', attachments: [] },
  });
  const run = async (...args: string[]) => {
    const { stdout } = await program.run(
      'policies',
      ...args,
      '--server',
      agent.address,
      '-o',
      'json',
    );
    return JSON.parse(stdout);
  };
  assert.equal((await run()).pods[0].node, agent.address);
  const { pod, nodes } = await run('shop/web');
  assert.deepEqual([pod, nodes[0].name], ['shop/web', agent.address]);
});
