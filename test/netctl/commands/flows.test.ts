/** `netctl flows` against a node that answers as an agent does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

function end(name: string, port: number) {
  return { address: '10.1.1.2', port, kind: 'pod', name, workload: name };
}

const closed = {
  id: '1',
  node: 'node1',
  side: 'client',
  time: '2026-01-31T12:00:00.5Z',
  ended: '2026-01-31T12:00:02Z',
  protocol: 'TCP',
  verdict: 'open',
  reason: '',
  client: end('shop/web', 40_000),
  server: end('shop/db', 5_432),
  service: { name: 'shop/store', address: '10.96.0.10', port: 5_433 },
  clientBytes: 1_234,
  serverBytes: 56,
  rttUs: 1_500,
  retransmissions: 2,
  stalledMs: 0,
};
const silent = {
  ...closed,
  id: '2',
  time: '2026-01-31T12:00:00Z',
  ended: undefined,
  verdict: 'no-answer',
  service: undefined,
  clientBytes: 0,
  serverBytes: 0,
};

const answer = (flows: readonly object[], state = {}) => ({
  node: 'node1',
  flows,
  state: {
    isRecording: true,
    records: flows.length,
    capacity: 100,
    lost: 0,
    displaced: 0,
    ...state,
  },
});

describe('netctl flows', () => {
  it('lists flows in the order of time', async () => {
    await using agent = await fakeAgent({ 'contiv/v1/flows': answer([closed, silent]) });
    using program = new NetctlProgram();
    const { stdout, code } = await program.run('flows', '--server', agent.address);
    assert.equal(code, 0);
    const [, first = '', second = ''] = stdout.split('\n');
    assert.match(
      first,
      /^node1 \(client\) +12:00:00\.000 +no-answer +shop\/web +shop\/db:5432 +- *$/,
    );
    assert.match(
      second,
      /12:00:00\.500 +closed +shop\/web +shop\/db:5432 +shop\/store:5433 +1\.2kB +56B +1\.5s/,
    );
  });

  it('prints the records with -o json', async () => {
    await using agent = await fakeAgent({ 'contiv/v1/flows': answer([closed]) });
    using program = new NetctlProgram();
    const { stdout } = await program.run('flows', '-o', 'json', '--server', agent.address);
    const { flows, nodes } = JSON.parse(stdout);
    assert.deepEqual(flows, [closed]);
    assert.equal(nodes[0].capacity, 100);
  });

  it('says that flows were lost, or that a node records none', async () => {
    using program = new NetctlProgram();
    for (const [state, text] of [
      [{ lost: 7 }, /node1: 7 events of connections were lost/],
      [{ displaced: 9 }, /node1: 9 conversations of UDP have left the memory of the kernel/],
      [
        { vppDenials: { packets: 5, sampled: 2 } },
        /node1: VPP has denied 5 packets since its agent started, and kept 2 of them/,
      ],
      [{ isRecording: false }, /node1: records no flows/],
    ] as const) {
      await using agent = await fakeAgent({ 'contiv/v1/flows': answer([], state) });
      const { stderr } = await program.run('flows', '--denied', '--server', agent.address);
      assert.match(stderr, text);
    }
  });

  it('marks UDP, and asks for one protocol', async () => {
    let asked = '';
    await using agent = await fakeAgent({
      'contiv/v1/flows': (reply) => {
        asked = String(reply.req.url);
        const one = { ...closed, protocol: 'UDP', server: end('kube-system/dns', 53) };
        reply.end(JSON.stringify(answer([one])));
      },
    });
    using program = new NetctlProgram();
    const { stdout } = await program.run('flows', '--protocol', 'udp', '--server', agent.address);
    assert.match(stdout, /kube-system\/dns:53\/UDP/);
    assert.match(asked, /protocol=UDP/);
    const { stderr } = await program.run('flows', '--protocol', 'x', '--server', agent.address);
    assert.match(stderr, /Allowed choices are tcp, udp/);
  });

  it('rejects a time that is none', async () => {
    await using agent = await fakeAgent({});
    using program = new NetctlProgram();
    for (const option of ['--since', '--last']) {
      const { stderr, code } = await program.run('flows', option, 'x', '--server', agent.address);
      assert.equal(code, 1);
      assert.match(stderr, /CV_NETCTL_FLOWS_ARGUMENT|x: not a/);
    }
  });
});
