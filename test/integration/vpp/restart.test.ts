/** The configuration of VPP survives a restart of the agent and is restored after a restart of VPP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';
import { isReachable, ping, Stream } from '../support/traffic.ts';

/** Messages that only read; the trace of VPP does not contain the handshake. */
const HARMLESS =
  /_dump(_v\d+)?$|_get$|^feature_is_enabled$|^cnat_get_snat_addresses$|_show_running_config$|^flowprobe_get_params$|^sw_interface_get_table$|^show_|^control_ping$|^want_|^memclnt_keepalive$/;

describe('restart', { skip: withoutNodes(), timeout: 120_000 }, () => {
  it('of the agent: VPP receives only reads, and no packet is lost', async () => {
    await using node = await RealNode.create();
    await node.agent.start();
    const [web, db] = [await node.pod('web'), await node.pod('db')];
    for (const { pod, address } of [web, db]) await node.reflect(pod, address);
    const before = await node.configuration();
    await node.vpp.cli('api trace on nitems 200000');

    const stream = await Stream.start(web, db);
    try {
      await sleep(1000);
      await node.agent.end('SIGTERM');
      await sleep(1000);
      await node.agent.start();
      await sleep(1000);
      await node.agent.end('SIGKILL');
      await sleep(1000);
      await node.agent.start();
      await sleep(7000);
      const result = await stream.stop();
      assert.ok(result.seconds >= 10, `${result.seconds} s`);
      assert.ok(result.sent / result.seconds > 800, JSON.stringify(result));
      assert.deepEqual(result.missing, [], JSON.stringify(result));
      assert.equal(result.received, result.sent, JSON.stringify(result));
    } finally {
      await stream.kill();
    }

    await node.vpp.cli('api trace off');
    const status = await node.vpp.cli('api trace status');
    assert.match(status, /has not wrapped/);
    const trace = await node.vpp.cli('api trace dump');
    const messages = [...trace.matchAll(/^vl_api_(\w+)_t:/gm)].map(([, name = '']) => name);
    assert.equal(messages.filter((name) => name === 'sw_interface_dump').length > 1, true, trace);
    assert.deepEqual(
      [...new Set(messages)].filter((name) => !HARMLESS.test(name)),
      [],
    );
    assert.deepEqual(await node.configuration(), before);
    for (const { Handlers, TxnErrorStr } of await node.agent.history()) {
      assert.equal(TxnErrorStr, '');
      assert.deepEqual(
        Handlers.filter(({ ErrorStr }) => ErrorStr !== ''),
        [],
      );
    }
  });

  it('of VPP: the agent reconciles it', async (t) => {
    await using node = await RealNode.create();
    await node.agent.start();
    const [web, db] = [await node.pod('web'), await node.pod('db')];
    await ping(web, db.address);
    const before = await node.configuration();
    await node.vpp.kill();
    assert.equal(await isReachable(web, db.address), false);
    await node.vpp.start();
    const start = performance.now();
    await until('the pods ping again', () => isReachable(web, db.address));
    t.diagnostic(`the pods ping ${Math.round(performance.now() - start)} ms after VPP listens`);
    await until('the healing resync is in the history', async () =>
      (await node.agent.history()).some(
        ({ Description }) => Description === 'Healing Resync (After error: VPP reconnected)',
      ),
    );
    assert.deepEqual(await node.configuration(), before);
    const healing = (await node.agent.history()).filter(({ Name }) => Name === 'Healing Resync');
    assert.deepEqual(
      healing.map(({ TxnErrorStr }) => TxnErrorStr),
      [''],
    );
    const late = await node.pod('late');
    await ping(late, web.address);
  });

  it('of VPP and agent at the same time', async () => {
    await using node = await RealNode.create();
    await node.agent.start();
    const [web, db] = [await node.pod('web'), await node.pod('db')];
    const before = await node.configuration();
    await Promise.all([node.vpp.kill(), node.agent.end('SIGKILL')]);
    node.agent.launch();
    await node.vpp.start();
    await node.agent.whenServing();
    await until('the pods ping again', () => isReachable(web, db.address));
    assert.deepEqual(await node.configuration(), before);
  });
});
