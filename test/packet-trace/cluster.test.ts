/** Packets through two simulated nodes, in the actual state and in the desired state. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { trace } from '#cmd/agent/trace.ts';
import { deviceByAddress } from '#packet-trace/cluster.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

for (const [mode, useTap] of [
  ['TAP', true],
  ['VETH', false],
] as const)
  describe(`two nodes wired by ${mode}`, () => {
    let cluster: SimulatedCluster;
    const addresses: Record<string, string> = {};

    before(async () => {
      cluster = await SimulatedCluster.start(useTap);
      const [one, two] = cluster.nodes;
      addresses['web'] = await cluster.pod(one!, 'web');
      addresses['db'] = await cluster.pod(one!, 'db');
      addresses['far'] = await cluster.pod(two!, 'far');
      addresses['host 1'] = one!.hostAddress;
      addresses['host 2'] = two!.hostAddress;
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    async function everyPairIsConnected(view: 'SB' | 'NB'): Promise<void> {
      const snapshot = await cluster.snapshot(view);
      for (const source of Object.values(addresses))
        for (const destination of Object.values(addresses)) {
          if (source === destination) continue;
          // Hosts reach each other over a network that the agents do not configure.
          if (source.startsWith('172.16.') && destination.startsWith('172.16.')) continue;
          const start = deviceByAddress(snapshot, source)!;
          const way = tracePacket(snapshot, start, { source, destination });
          assert.equal(way.verdict, 'delivered', `${source} to ${destination}\n${traceText(way)}`);
        }
    }

    for (const view of ['SB', 'NB'] as const)
      it(`every pod and host reaches every other one (${view})`, () => everyPairIsConnected(view));

    it('names the values that decide on the path between nodes', async () => {
      const snapshot = await cluster.snapshot('SB');
      const [source, destination] = [addresses['web']!, addresses['far']!];
      const { hops } = tracePacket(snapshot, deviceByAddress(snapshot, source)!, {
        source,
        destination,
      });
      const deciding = hops.map(({ device, key }) => `${device} ${key}`);
      for (const part of [
        /\/run\/netns\/web config\/linux\/l3\/v2\/route\/0\.0\.0\.0\/0\//,
        /node1\/vpp config\/vpp\/v2\/route\/.*vrf\/1\/dst\/10\.1\.2\.0\/24/,
        /node1\/vpp config\/vpp\/l2\/v2\/fib\/vxlanBD/,
        /node1\/vpp config\/vpp\/v2\/interfaces\/vxlan-default-2/,
        /node2\/vpp config\/vpp\/v2\/interfaces\/vxlan-default-1/,
        /node2\/vpp config\/vpp\/v2\/route\/.*dst\/10\.1\.2\.\d+\/32/,
        /node2\/\/run\/netns\/far config\/linux\/interfaces/,
      ])
        assert.ok(
          deciding.some((line) => part.test(line)),
          `${part}\n${deciding.join('\n')}`,
        );
    });

    it('is printed by the command for the names of pods', async () => {
      const agents = cluster.nodes.map(({ running }) => `http://127.0.0.1:${running.agent.port}`);
      const pieces: string[] = [];
      const packet = { protocol: 'TCP', port: 80, sourcePort: undefined } as const;
      const ask = { from: 'web', to: 'default/far', ...packet, agents, desired: false };
      assert.equal(await trace(ask, (piece) => void pieces.push(piece)), true);
      const text = pieces.join('');
      assert.match(text, /^web \(10\.1\.1\.\d+\) to default\/far \(10\.1\.2\.\d+\), TCP port 80\n/);
      assert.match(text, /delivered: .*\n[\s\S]*reply\n[\s\S]*delivered: /);
      await assert.rejects(
        trace({ ...ask, to: 'nobody' }, () => undefined),
        /no pod with this name/,
      );
    });

    it('drops packets to an address without a pod', async () => {
      const snapshot = await cluster.snapshot('SB');
      const source = addresses['web']!;
      for (const destination of ['10.1.1.200', '10.1.2.200', '10.1.77.1']) {
        const way = tracePacket(snapshot, deviceByAddress(snapshot, source)!, {
          source,
          destination,
        });
        assert.equal(way.verdict, 'dropped', traceText(way));
      }
    });

    it('connects every pod and host while a third node claims the addresses of others', async () => {
      const claimed = ['192.168.16.1', '192.168.16.2', '10.1.1.1', '10.1.2.1', '172.30.1.2'];
      await cluster.tell(3, 'node3', '192.168.16.3/24', ['172.16.0.3', ...claimed]);
      await everyPairIsConnected('SB');
      for (const { running } of cluster.nodes)
        assert.equal((await running.get('/readiness')).status, 200);
    });
  });

const withoutPorts = { protocol: undefined, port: undefined, sourcePort: undefined };

describe('contiv-agent trace', () => {
  const ask = (agent: string) =>
    trace(
      { from: 'a', to: 'b', ...withoutPorts, agents: [agent], desired: false },
      () => undefined,
    );

  it('says which agent does not answer as one, and why', async (t) => {
    await assert.rejects(ask('http://127.0.0.1:2'), { code: 'CV_TRACE', message: /ECONNREFUSED/ });
    await assert.rejects(ask('127.0.0.1:9999'), { code: 'CV_TRACE', message: /9999.*Invalid URL/ });
    let body = '';
    let status = 200;
    const server = createServer((_request, response) => {
      response.writeHead(status).end(body);
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (body of ['<html>', 'null', '7', '{"name":"n","hostAddresses":[],"pods":null,"values":{}}'])
      await assert.rejects(ask(`http://127.0.0.1:${port}`), { code: 'CV_TRACE' }, body);
    body = '{"name":"n","hostAddresses":[],"pods":{},"values":{}}';
    await assert.rejects(ask(`http://127.0.0.1:${port}`), /no pod with this name is attached to n/);
    status = 503;
    body = '{"Error":"too many"}';
    await assert.rejects(ask(`http://127.0.0.1:${port}`), /failed: status 503: too many$/);
  });
});
