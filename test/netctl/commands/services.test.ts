/** `netctl services` against a node that answers as an agent does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FakeAgent, fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

const address = {
  kind: 'cluster-ip',
  portName: '',
  address: '10.96.0.10',
  port: 80,
  protocol: 'TCP',
  policy: 'Cluster',
};
const inVpp = { key: 'config/vpp/nat/v2/dnat44/shop/web', state: 'CONFIGURED' };
const atSocket = { key: 'config/linux/socket/v2/service/shop/web', state: 'CONFIGURED' };
const actual = { desired: {}, actual: {} };

async function agentWith(states: readonly object[], values: readonly object[]): Promise<FakeAgent> {
  const summary = { ...address, backends: ['10.1.1.2:80'], unusedBackends: 0 };
  const service = { name: 'shop/web', problems: [] };
  return await fakeAgent({
    'contiv/v1/services': [{ ...service, rendered: true, addresses: [summary], values: states }],
    'contiv/v1/services/shop/web': {
      ...service,
      renderer: 'nat44, socket',
      addresses: [],
      healthCheck: null,
      values,
    },
  });
}

describe('netctl services', () => {
  it('shows what carries each service', async () => {
    await using agent = await agentWith([inVpp, atSocket], []);
    using program = new NetctlProgram();
    const { stdout } = await program.run('services', '-o', 'wide', '--server', agent.address);
    assert.match(stdout, /10\.96\.0\.10:80\/tcp +cluster-ip +1 +NAT44, sockets +served/);
  });

  it('shows who may use the addresses of a load balancer', async () => {
    const balanced = { ...address, kind: 'load-balancer', backends: ['10.1.1.2:80'] };
    const addresses = [['198.51.100.0/24'], []].map((sourceRanges, at) => ({
      ...balanced,
      address: `203.0.113.${at}`,
      sourceRanges,
      unusedBackends: 0,
    }));
    const service = { name: 'shop/web', problems: [], rendered: true, addresses, values: [inVpp] };
    await using agent = await fakeAgent({ 'contiv/v1/services': [service] });
    using program = new NetctlProgram();
    const { stdout } = await program.run('services', '--server', agent.address);
    assert.match(stdout, /203\.0\.113\.0:80\/tcp .* served for 198\.51\.100\.0\/24 only$/m);
    assert.match(stdout, /203\.0\.113\.1:80\/tcp .* served for no client$/m);
  });

  it('does not call that a carrier which the node could not configure', async () => {
    const failed = { ...atSocket, state: 'FAILED', error: 'the table is full' };
    await using agent = await agentWith([inVpp, failed], []);
    using program = new NetctlProgram();
    const { stdout } = await program.run('services', '-o', 'wide', '--server', agent.address);
    assert.match(stdout, / +1 +NAT44 +at the socket: the table is full/);
  });

  it('shows for one service what VPP and the kernel have', async () => {
    const missing = { ...atSocket, desired: {}, actual: null };
    await using agent = await agentWith([], [{ ...inVpp, ...actual }, missing]);
    using program = new NetctlProgram();
    const { stdout } = await program.run('services', 'shop/web', '--server', agent.address);
    assert.match(stdout, /carried by NAT44$/m);
    assert.match(stdout, /at the socket: missing/);
  });
});
