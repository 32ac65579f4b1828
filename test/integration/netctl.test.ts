/** netctl against an etcd and three nodes: two live agents, and one that is stopped. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { ExitCode } from '#netctl/command.ts';
import { NetctlProgram } from '#test/netctl/support/program.ts';
import { programFile } from '#test/support/program-command.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { EtcdServer } from './support/etcd-server.ts';
import { freePort } from './support/free-port.ts';

const agentMain = programFile('agent');
/** It needs some seconds of CPU, of which a busy machine gives little. */
const START_LIMIT_MS = 120_000;
const PREFIX = '/vnf-agent/contiv-ksr/';

/** An embedded agent serves 127.0.0.1 only; the nodes have other addresses with one port. */
async function relay(address: string, port: number, target: number): Promise<Server> {
  const server = createServer((client) => {
    const agent = connect(target, '127.0.0.1');
    client.on('error', () => agent.destroy()).pipe(agent);
    agent.on('error', () => client.destroy()).pipe(client);
  });
  server.listen(port, address);
  await once(server, 'listening');
  return server;
}

describe('netctl and two of three nodes', {
  skip: withoutProgram('etcd', 'script'),
}, () => {
  let folder = '';
  let etcd: EtcdServer;
  let program: NetctlProgram;
  const agents: ChildProcess[] = [];
  const relays: Server[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'netctl-nodes-'));
    etcd = await EtcdServer.start();
    const port = await freePort();
    const store = etcd.store();
    for (const place of [1, 2, 3]) {
      const name = `node-${place}`;
      const address = `127.0.0.${place + 1}`;
      const addresses = [{ type: 3, address }];
      await store.put(`${PREFIX}k8s/node/${name}`, JSON.stringify({ name, addresses }));
      const node = { id: place, name, ip_addresses: [`192.168.16.${place}/24`] };
      await store.put(`${PREFIX}allocatedIDs/${place}`, JSON.stringify(node));
    }
    const ports = await Promise.all(['node-1', 'node-2'].map(startAgent));
    for (const [place, target] of ports.entries())
      relays.push(await relay(`127.0.0.${place + 2}`, port, target));
    await store.close();
    const http = join(folder, 'http.client.conf');
    writeFileSync(http, `port: ${port}\n`);
    program = new NetctlProgram({
      ETCD_ENDPOINTS: `127.0.0.1:${etcd.port}`,
      HTTP_CLIENT_CONFIG: http,
    });
  });

  after(async () => {
    for (const server of relays) server.close();
    for (const agent of agents) agent.kill('SIGKILL');
    program?.[Symbol.dispose]();
    await etcd?.close();
    rmSync(folder, { recursive: true });
  });

  /** @returns its port of REST */
  async function startAgent(name: string): Promise<number> {
    const configs = join(folder, name);
    mkdirSync(configs);
    writeFileSync(join(configs, 'grpc2.conf'), `endpoint: 127.0.0.1:${await freePort()}\n`);
    const port = await freePort();
    const label = `${name}-${process.pid}`;
    const flags = ['--embedded', '--config-dir', configs, '--http-port', String(port)];
    const env = { ...process.env, MICROSERVICE_LABEL: label };
    agents.push(spawn(agentMain, flags, { env, stdio: 'ignore' }));
    const isReady = async (): Promise<boolean> => {
      const url = `http://127.0.0.1:${port}/readiness`;
      const reply = await fetch(url).catch(() => undefined);
      return reply?.status === 200;
    };
    await until(`readiness of ${name}`, isReady, START_LIMIT_MS);
    return port;
  }

  it('lists all nodes, and why one does not answer', async () => {
    const { code, stdout, stderr } = await program.run('nodes', '-o', 'json');
    const { nodes, failures } = JSON.parse(stdout);
    assert.equal(code, ExitCode.Partial, stderr);
    assert.deepEqual(
      nodes.map((node: { id: number; state: string }) => [node.id, node.state]),
      [
        [1, 'OK'],
        [2, 'OK'],
      ],
    );
    assert.deepEqual(
      failures.map((one: { node: string; reason: string }) => [one.node, one.reason]),
      [['node-3', 'refused']],
    );
    assert.match(stderr, /node-3: connection refused\n.*kubectl/);
  });

  it('fits a terminal of 80 columns', async () => {
    const command = 'stty cols 80 rows 24; netctl nodes 2>/dev/null';
    const { stdout } = await program.start('script', ['-qec', command, '/dev/null']);
    const lines = stripVTControlCharacters(stdout).split('\r\n');
    assert.ok(
      lines.every((line) => line.length <= 80),
      stdout,
    );
    const shape = lines.map((line) =>
      line
        .replace(/\w{3} \w{3} [ \d]\d/, 'DATE______')
        .replace(/\d\d:\d\d:\d\d \d{4}/, 'TIME_________')
        .trimEnd(),
    );
    assert.deepEqual(shape, [
      'ID  NODE-NAME  VPP-IP        HOST-IP    START-TIME          STATE  BUILD-VERSION',
      '1   node-1     192.168.16.1  127.0.0.2  DATE______          OK     v0.1.0',
      '                                        TIME_________',
      '2   node-2     192.168.16.2  127.0.0.3  DATE______          OK     v0.1.0',
      '                                        TIME_________',
      '3   node-3     192.168.16.3  127.0.0.4  connection refused',
      '',
    ]);
  });

  it('says how a command of VPP is permitted', async () => {
    const { code, stderr } = await program.run('vppcli', 'node-1', 'show', 'version');
    assert.equal(code, ExitCode.Failure);
    assert.match(stderr, /403.*\n.*unix socket.*open-mutating-routes/);
  });

  it('has failed when no node answers', async () => {
    const { code, stdout } = await program.run('ipam', 'node-3');
    assert.equal(code, ExitCode.Failure);
    assert.match(stdout, /^3 +node-3 +connection refused$/m);
  });
});
