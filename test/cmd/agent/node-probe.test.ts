/** Probes of other nodes, with a server in the place of VPP's CLI socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { NodeProbe } from '#documents/node-probe.ts';
import { systemClock } from '#infra/clock/system.ts';
import { answer } from '#infra/http/route.ts';
import { pingResult } from '../../../src/cmd/agent/node-probe/ping.ts';
import { type NodeProbeDeps, nodeProbeRoutes } from '../../../src/cmd/agent/node-probe/routes.ts';

/** As VPP 26.06 writes it. */
const REPLIES = [
  '116 bytes from 192.168.16.2: icmp_seq=1 ttl=64 time=.6180 ms\r\n',
  '116 bytes from 192.168.16.2: icmp_seq=3 ttl=64 time=5.5743 ms\r\n',
  '\r\nStatistics: 5 sent, 2 received, 60% packet loss\r\nvpp# ',
].join('');
const NO_TABLE =
  'Failed: no FIB table for lookup\r\n\r\nStatistics: 0 sent, 0 received, 0% packet loss\r\n';
const NO_PLUGIN = "unknown input `ping 192.168.16.2 table-id 0'\r\nvpp# ";

describe('the output of ping', () => {
  it('has losses and times', () => {
    assert.deepEqual(pingResult(REPLIES), {
      sent: 5,
      received: 2,
      rttMs: { min: 0.618, average: 3.0962, max: 5.5743 },
      problem: null,
    });
  });

  it('says why nothing was sent', () => {
    const nothing = { sent: 0, received: 0, rttMs: null };
    const problem = 'Failed: no FIB table for lookup';
    assert.deepEqual(pingResult(NO_TABLE), { ...nothing, problem });
    assert.match(pingResult(NO_PLUGIN).problem!, /^unknown input `ping/);
  });
});

describe('GET /contiv/v1/nodes/:name/probe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'node-probe-'));
  const socket = join(folder, 'cli.sock');
  const commands: string[] = [];
  let reply = (client: Socket): void => void client.write(REPLIES);
  let vpp: Server;
  before(async () => {
    vpp = createServer((client) => {
      client.on('error', () => undefined);
      // Options of telnet, as VPP sends them.
      client.write(Buffer.from([0xff, 0xfc, 0x22, 0xff, 0xfd, 0x18]));
      client.on('data', (command) => {
        commands.push(command.toString().trim());
        reply(client);
      });
    }).listen(socket);
    await once(vpp, 'listening');
  });
  after(() => {
    vpp.close();
    rmSync(folder, { recursive: true });
  });

  const node = (name: string, id: number) => [name, { id, name }] as const;
  const link = {
    address: '192.168.16.2',
    tunnel: 'vxlan2',
    encryptedBy: [],
    encryption: undefined,
    whyUnreachable: undefined,
  };
  const deps: NodeProbeDeps = {
    label: 'node1',
    conf: { routing: () => ({ mainVrf: 0, podVrf: 1 }) as never },
    ipam: { podSubnetOtherNode: (id) => `10.1.${id}.0/24` },
    net: { nodeLink: () => link },
    nodes: { allNodes: () => new Map([node('node1', 1), node('node2', 2)]) as never },
    vppNameOf: async () => 'loop0',
    cliSocket: socket,
    clock: systemClock,
  };
  const ask = async (changes: Partial<NodeProbeDeps> = {}, name = 'node2') => {
    const [route] = nodeProbeRoutes({ ...deps, ...changes });
    const { status, body } = await answer(route!, { query: {}, params: { name }, body: undefined });
    return { status, body: body as NodeProbe };
  };

  it('sends packets beside the tunnel and in it, after one that finds the MAC address', async () => {
    commands.length = 0;
    const { status, body } = await ask();
    assert.equal(status, 200);
    assert.deepEqual(commands, [
      'ping 192.168.16.2 table-id 0 interval 0.2 repeat 1',
      'ping 192.168.16.2 table-id 0 interval 0.2 repeat 5',
      'ping 10.1.2.1 table-id 1 source loop0 interval 0.2 repeat 1',
      'ping 10.1.2.1 table-id 1 source loop0 interval 0.2 repeat 5',
    ]);
    assert.deepEqual(
      body.paths.map(({ path, address, received }) => [path, address, received]),
      [
        ['underlay', '192.168.16.2', 2],
        ['overlay', '10.1.2.1', 2],
      ],
    );
  });

  it('knows nodes that it cannot probe', async () => {
    assert.equal((await ask({}, 'node9')).status, 404);
    assert.equal((await ask({}, 'node1')).status, 404);
    const whyUnreachable = 'it has no address';
    const none = {
      address: undefined,
      tunnel: undefined,
      encryptedBy: [],
      encryption: undefined,
      whyUnreachable,
    };
    const { body } = await ask({ net: { nodeLink: () => none } });
    assert.deepEqual(body, { node: 'node2', whyUnreachable, paths: [] });
  });

  it('makes no command of a record that is no address', async () => {
    commands.length = 0;
    const malicious = { ...link, address: '1.1.1.1\nset interface state tap0 down' };
    const { body } = await ask({ net: { nodeLink: () => malicious } });
    assert.deepEqual([body.paths, commands], [[], []]);
  });

  it('says why VPP cannot be asked', async () => {
    const problemOf = async (changes: Partial<NodeProbeDeps>) =>
      (await ask(changes)).body.paths[0]!.problem!;
    assert.match(await problemOf({ cliSocket: undefined }), /VPP is simulated/);
    const missing = join(folder, 'missing.sock');
    assert.match(await problemOf({ cliSocket: missing }), /ENOENT.*\[CV_VPP_CLI_SOCKET\]: Check/);
    reply = (client) => void client.destroy();
    assert.match(await problemOf({}), /VPP closed the connection/);
  });
});
