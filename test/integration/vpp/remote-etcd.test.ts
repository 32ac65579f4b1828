/**
 * A node whose etcd is another machine, over TLS. Pods keep their network and are attached whatever
 * happens to etcd, to the link, or to the certificates; afterwards the agent follows etcd again without
 * a restart.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutNodes, withoutOpenssl, withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { EtcdMachine } from '../support/etcd-machine.ts';
import { RealNode } from '../support/node.ts';
import { podsInHistory } from '../support/pods-in-history.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { ping } from '../support/traffic.ts';

const skip = withoutNodes() || withoutOpenssl() || withoutProgram('iptables');

/** After repeated losses within a minute, the agent waits up to half a minute before it reads etcd again. */
const FOLLOW_LIMIT_MS = 45_000;

describe('a node whose etcd is another machine', { skip, timeout: 900_000 }, () => {
  let machine: EtcdMachine;
  let node: RealNode;
  let web: Sandbox;
  let changes = 0;

  before(async () => {
    machine = await EtcdMachine.create();
    node = await RealNode.create({ etcd: machine.etcd, etcdConfig: machine.config });
    await machine.connect(node.netns);
    await node.agent.start();
    web = await node.pod('web');
  });
  afterEach(async () => {
    await machine.dropNothing();
    for (const name of ['client', 'server'] as const) machine.certify(name);
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    await machine?.[Symbol.asyncDispose]();
  });

  /** Resolves when a change that is written now has arrived, and the agent is ready. */
  async function follows(t: TestContext): Promise<void> {
    const started = performance.now();
    const pod = `change-${++changes}`;
    await node.reflect(pod, '10.1.1.99');
    await until(
      'a change arrives',
      async () => podsInHistory(await node.agent.history()).has(`default/${pod}`),
      FOLLOW_LIMIT_MS,
    ).catch((cause) => {
      throw new Error(node.agent.tail(), { cause });
    });
    await until('the agent is ready', isReady);
    t.diagnostic(`a change arrived after ${Math.round(performance.now() - started)} ms`);
    await node.unreflect(pod);
  }

  async function isReady(): Promise<boolean> {
    return (await node.agent.get('/readiness')).status === 200;
  }

  /** Adds and deletes a pod: while etcd is missed, neither can depend on it. */
  async function attachesPods(): Promise<void> {
    const pod = await node.pod(`during-${changes}`);
    await ping(pod, web.address);
    assert.equal((await node.agent.delete(pod)).result, 0);
    assert.equal((await node.agent.get('/liveness')).status, 200);
  }

  /** @param reason in the status of etcd */
  async function misses(reason = /etcd https/): Promise<void> {
    let shown = '';
    const isMissed = async (): Promise<boolean> => {
      shown = await node.agent.get('/readiness').then(
        ({ status, body }) => (status === 200 ? 'ready' : JSON.stringify(body)),
        (error) => String(error),
      );
      return reason.test(shown);
    };
    await until('the agent misses etcd', isMissed, 40_000).catch((cause) => {
      throw new Error(shown, { cause });
    });
    await attachesPods();
  }

  it('is ready, and follows changes', async (t) => {
    await follows(t);
    await attachesPods();
  });

  it('follows changes again after its link was cut', async (t) => {
    await machine.cutLink();
    await node.reflect('meanwhile', '10.1.1.98');
    await misses();
    await machine.raiseLink();
    await follows(t);
    assert.ok(podsInHistory(await node.agent.history()).has('default/meanwhile'));
  });

  for (const [title, chains] of [
    ['in both directions', ['INPUT', 'OUTPUT']],
    ['from etcd', ['OUTPUT']],
    ['to etcd', ['INPUT']],
  ] as const)
    it(`follows changes again after packets ${title} vanished for 20 s`, async (t) => {
      for (const chain of chains) await machine.drop(chain);
      await misses();
      await sleep(20_000);
      await attachesPods();
      await machine.dropNothing();
      await follows(t);
    });

  it('follows changes of an etcd that restarted while its packets vanished', async (t) => {
    await machine.drop('INPUT');
    await machine.drop('OUTPUT');
    await machine.etcd.kill();
    await machine.etcd.start();
    await misses();
    await machine.dropNothing();
    await follows(t);
  });

  /** Ends the connections, so that the next one needs new handshakes. */
  async function reconnect(): Promise<void> {
    await machine.etcd.kill();
    await machine.etcd.start();
  }

  it('refuses etcd after its certificate expired, until it is renewed', async (t) => {
    machine.certify('server', 'ca', { days: 0 });
    await sleep(1100);
    await reconnect();
    await misses(/certificate has expired/);
    machine.certify('server');
    await follows(t);
  });

  it('refuses an etcd with the certificate of another name', async (t) => {
    machine.certify('server', 'ca', { names: 'DNS:etcd.example,IP:192.0.2.77' });
    await reconnect();
    await misses(/192\.0\.2\.1 is not in the cert's list/);
    machine.certify('server');
    await follows(t);
  });

  it('uses the certificates of another authority', async (t) => {
    machine.replaceAuthority();
    await reconnect();
    machine.certify('client');
    await follows(t);
  });
});
