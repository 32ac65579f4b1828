/** The calls of the specification about status and loggers, as an operator types them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutCurl, withoutEtcdctl, withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';

const LABEL = 'node1';
const STATUS = `/vnf-agent/${LABEL}/check/status/v1`;
const USER = 'operator:secret';

interface Component {
  readonly state?: number;
  readonly last_change: number;
  readonly last_update: number;
  readonly error?: string;
}

interface StatusDocument extends Component {
  readonly build_version: string;
  readonly start_time: number;
  readonly interface_stats?: object;
  readonly PluginStatus: Readonly<Record<string, Component>>;
  readonly NonFatalPlugins: readonly string[];
}

const missing = withoutNodes() || withoutCurl() || withoutEtcdctl();

describe('status and loggers of a running agent', { skip: missing, timeout: 240_000 }, () => {
  let node: RealNode;

  before(async () => {
    node = await RealNode.create({
      label: LABEL,
      // everything but probes needs the user
      http: { 'client-basic-auth': [USER], 'open-mutating-routes': true },
      agentFlags: ['--http-port', '9191'],
    });
    await node.agent.start();
  });
  after(() => node[Symbol.asyncDispose]());

  /** curl in the namespace of the node. */
  async function curl<T = unknown>(...args: readonly string[]): Promise<{ code: number; body: T }> {
    const text = await node.netns.run('curl', '-s', '-w', '\n%{http_code}', ...args);
    const end = text.trimEnd().lastIndexOf('\n');
    const body = text.slice(0, end);
    const isJson = /^\s*[[{]/.test(body);
    return { code: Number(text.slice(end + 1)), body: (isJson ? JSON.parse(body) : body) as T };
  }

  const probe = (path: 'liveness' | 'readiness') =>
    curl<StatusDocument>('-X', 'GET', `http://localhost:9191/${path}`);

  /** The value that etcdctl prints after the key. */
  async function etcdctl(key: string): Promise<Record<string, unknown>> {
    const printed = await node.netns.run(
      'etcdctl',
      `--endpoints=${node.etcd.endpoint}`,
      'get',
      key,
    );
    const [name, value = '{}'] = printed.split('\n');
    if (name !== '') assert.equal(name, key);
    return JSON.parse(value) as Record<string, unknown>;
  }

  it('are shown by the probes, with the fields of the specification first', async () => {
    for (const path of ['liveness', 'readiness'] as const) {
      const { code, body } = await probe(path);
      assert.equal(code, 200);
      assert.equal(body.state, 1);
      assert.match(body.build_version, /^v/);
      const now = Date.now() / 1000;
      assert.ok(body.start_time <= body.last_change && body.last_change <= body.last_update);
      assert.ok(body.last_update <= now && now - body.start_time < 240);
      const specified = ['build_version', 'state', 'start_time', 'last_change', 'last_update'];
      assert.deepEqual(
        Object.keys(body).filter((key) => specified.includes(key)),
        specified,
      );
      for (const name of ['controller', 'vpp', 'etcd', 'kvscheduler', 'mirror'])
        assert.equal(body.PluginStatus[name]?.state, 1, name);
      assert.deepEqual(body.interface_stats, path === 'readiness' ? {} : undefined);
    }
  });

  it('are in etcd, the agent with a heartbeat every 10 s', async () => {
    const isOk = async (key: string) => (await etcdctl(`${STATUS}/${key}`))['state'] === 'OK';
    // Written at most once a second: the record may be from before the agent was ready.
    await until('the agent is OK in etcd', () => isOk('agent'), 5_000);
    await until('VPP is OK in etcd', () => isOk('plugin/GOVPP'), 5_000);
    const first = await etcdctl(`${STATUS}/agent`);
    assert.match(String(first['build_version']), /^v/);
    for (const name of ['start_time', 'last_change', 'last_update'])
      assert.match(first[name] as string, /^1[0-9]{9}$/);
    const vpp = await etcdctl(`${STATUS}/plugin/GOVPP`);
    assert.deepEqual(Object.keys(vpp), ['state', 'last_change', 'last_update']);
    const updates = new Set<unknown>();
    await until(
      'the second heartbeat',
      async () => updates.add((await etcdctl(`${STATUS}/agent`))['last_update']).size === 3,
      25_000,
    );
    const [, second, third] = [...updates].map(Number);
    assert.ok(Math.abs(third! - second! - 10) <= 1, `${third! - second!} s`);
    assert.deepEqual(await etcdctl(`${STATUS}/plugin/GOVPP`), vpp, 'it is not written again');
  });

  it('show that VPP was killed, since when, and that it is back; liveness stays 200', async () => {
    const before = Math.floor(Date.now() / 1000);
    await node.vpp.kill();
    await until('readiness fails', async () => (await probe('readiness')).code === 500);
    const { code, body } = await probe('liveness');
    assert.deepEqual([code, body.state], [200, 2]);
    const { state, error, last_change } = body.PluginStatus['vpp']!;
    assert.deepEqual([state, error], [2, 'VPP disconnected']);
    assert.ok(last_change >= before && last_change <= before + 10);
    const govpp = async () => (await etcdctl(`${STATUS}/plugin/GOVPP`)) as { state: string };
    await until('etcd has the error', async () => (await govpp()).state === 'ERROR', 5_000);
    const published = await etcdctl(`${STATUS}/plugin/GOVPP`);
    assert.deepEqual(published, {
      state: 'ERROR',
      last_change: String(last_change),
      last_update: published['last_update'],
      error: 'VPP disconnected',
    });
    assert.equal((await etcdctl(`${STATUS}/agent`))['state'], 'ERROR');
    const { body: metrics } = await curl<string>('-u', USER, 'http://localhost:9191/metrics');
    for (const line of [
      'contiv_agent_state 2',
      'contiv_component_state{component="vpp",affects="state"} 2',
      `contiv_component_last_change_timestamp_seconds{component="vpp"} ${last_change}`,
    ])
      assert.ok(metrics.includes(`\n${line}\n`), line);
    await node.vpp.start();
    await until('the agent is ready', async () => (await probe('readiness')).code === 200, 60_000);
    await until('etcd has the recovery', async () => (await govpp()).state === 'OK', 5_000);
  });

  it('show that etcd was killed, and are published when it is back; liveness stays OK', async () => {
    await node.etcd.kill();
    await until('readiness fails', async () => (await probe('readiness')).code === 500);
    const { code, body } = await probe('liveness');
    assert.deepEqual([code, body.state], [200, 1], 'etcd is not fatal');
    assert.equal(body.PluginStatus['etcd']?.state, 2);
    assert.ok(body.NonFatalPlugins.includes('etcd'));
    assert.ok(body.NonFatalPlugins.includes('mirror'));
    assert.equal((await probe('readiness')).body.state, 2);
    const lost = Math.floor(Date.now() / 1000);
    await node.etcd.start();
    await until('the agent is ready', async () => (await probe('readiness')).code === 200, 60_000);
    await until(
      'the outage is published',
      async () => {
        const agent = await etcdctl(`${STATUS}/agent`);
        const etcd = await etcdctl(`${STATUS}/plugin/etcd`);
        return Number(agent['last_update']) >= lost && etcd['state'] === 'OK';
      },
      15_000,
    );
  });

  it('have levels that GET /log/list shows and PUT /log/<logger>/<level> changes', async () => {
    const list = async () => {
      const { body } = await curl<{ logger: string; level: string }[]>(
        ...['-u', USER, '-X', 'GET', 'http://localhost:9191/log/list'],
      );
      return new Map(body.map(({ logger, level }) => [logger, level]));
    };
    const put = (path: string, ...args: readonly string[]) =>
      curl(...args, '-X', 'PUT', `http://localhost:9191/log/${path}`);
    assert.equal((await list()).get('controller'), 'info');
    for (const level of ['debug', 'info', 'warning', 'error', 'fatal'] as const) {
      const { code, body } = await put(`controller/${level}`, '-u', USER);
      assert.deepEqual([code, body], [200, { logger: 'controller', level }]);
      assert.equal((await list()).get('controller'), level);
    }
    assert.equal((await put('controller/panic', '-u', USER)).code, 200);
    assert.equal((await put('unknown/debug', '-u', USER)).code, 404);
    assert.equal((await put('controller/loud', '-u', USER)).code, 400);
    assert.equal((await put('controller/debug')).code, 401);
    assert.equal((await put('controller/debug', '-u', 'operator:wrong')).code, 401);
    assert.equal((await list()).get('controller'), 'fatal');
  });

  it('have levels that cannot be changed on the port without credentials', async () => {
    const open = await RealNode.create({ label: 'node2', agentFlags: ['--http-port', '9191'] });
    try {
      await open.agent.start();
      const url = 'http://localhost:9191/log';
      const status = ['-s', '-o', '/dev/null', '-w', '%{http_code}'];
      assert.equal(await open.netns.run('curl', ...status, `${url}/list`), '200');
      assert.equal(await open.netns.run('curl', ...status, '-X', 'PUT', `${url}/vpp/debug`), '403');
      const socket = ['--unix-socket', open.agent.restSocket];
      const local = [...status, ...socket, '-X', 'PUT', 'http://agent/log/vpp/debug'];
      assert.equal(await open.netns.run('curl', ...local), '200');
    } finally {
      await open[Symbol.asyncDispose]();
    }
  });
});
