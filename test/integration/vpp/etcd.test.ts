/**
 * After faults of etcd or of the connection, the agent has the state of etcd. VPP_ETCD_PAUSE is the
 * number of seconds that etcd hangs.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { formatCidr } from '#models/ip.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';
import { podsInHistory } from '../support/pods-in-history.ts';
import { ping } from '../support/traffic.ts';

const pause = Number(process.env['VPP_ETCD_PAUSE'] ?? 15);
const configuration = `${agentPrefix('node1')}${vppInterfaceKey.prefix()}`;
const LOOPBACKS = 5;

/** `<namespace>/<name>` of the Pod records in etcd. */
async function podsInEtcd({ etcd }: RealNode): Promise<string[]> {
  const { entries } = await etcd.store.list(REFLECTOR_PREFIX + resources.pod.keyPrefix);
  return entries
    .map(({ key }) => resources.pod.parseKey(key.slice(REFLECTOR_PREFIX.length))!)
    .map(({ name, namespace }) => `${namespace}/${name}`)
    .sort();
}

/** Desired addresses of loopbacks in etcd, by name. */
async function loopbacksInEtcd({ etcd }: RealNode): Promise<Map<string, string[]>> {
  const { entries } = await etcd.store.list(configuration);
  return new Map(
    entries.map(({ value }) => {
      const { name, ip_addresses } = JSON.parse(value) as { name: string; ip_addresses: string[] };
      return [name, ip_addresses];
    }),
  );
}

/** Actual addresses of loopbacks in VPP, by name. */
function loopbacksInVpp({ vpp }: RealNode): Promise<Map<string, string[]>> {
  return vpp.withClient(async (client) => {
    const found = new Map<string, string[]>();
    const all = { sw_if_index: 0xffffffff, name_filter_valid: false, name_filter: '' };
    for (const { sw_if_index, tag } of await client.dump('sw_interface_dump', all)) {
      if (!tag.startsWith('ext-')) continue;
      const addresses = await client.dump('ip_address_dump', { sw_if_index, is_ipv6: false });
      found.set(
        tag,
        addresses.map(({ prefix: { address, len } }) =>
          formatCidr({ address: address.un.slice(0, 4), length: len }),
        ),
      );
    }
    return found;
  });
}

describe('faults of etcd', { skip: withoutNodes(), timeout: 240_000 }, () => {
  let node: RealNode;
  let round = 0;

  /** Puts, updates and deletes, so that missed and stale records show. */
  async function churn(): Promise<void> {
    round++;
    const { store } = node.etcd;
    await node.reflect(`pod-${round}`, `10.1.1.${100 + round}`);
    await node.reflect(`gone-${round}`, `10.1.1.${150 + round}`);
    await node.unreflect(`gone-${round}`);
    if (round > 3) await node.unreflect(`pod-${round - 3}`);
    for (let n = 0; n < LOOPBACKS; n++) {
      const name = `ext-${n}`;
      const value = {
        name,
        type: 'SOFTWARE_LOOPBACK',
        enabled: true,
        ip_addresses: [`10.200.${round}.${n}/32`],
      };
      // another one is deleted in every round
      if ((round + n) % LOOPBACKS === 0) await store.delete(configuration + name);
      else await store.put(configuration + name, JSON.stringify(value));
    }
  }

  async function agrees(): Promise<void> {
    let [seen, wanted]: unknown[] = [];
    const same = async () => {
      seen = [[...podsInHistory(await node.agent.history())].sort(), await loopbacksInVpp(node)];
      wanted = [await podsInEtcd(node), await loopbacksInEtcd(node)];
      return isDeepStrictEqual(seen, wanted);
    };
    await until('the agent has the state of etcd', same, 30_000).catch(() =>
      assert.deepEqual(seen, wanted),
    );
    assert.deepEqual(wanted, [await podsInEtcd(node), await loopbacksInEtcd(node)]);
    // The watch works: the next change arrives.
    await node.reflect('now', '10.1.1.99');
    await until('a change arrives', async () =>
      podsInHistory(await node.agent.history()).has('default/now'),
    );
    await node.unreflect('now');
    await until(
      'its deletion arrives',
      async () => !podsInHistory(await node.agent.history()).has('default/now'),
    );
  }

  before(async () => {
    node = await RealNode.create();
    await node.agent.start();
  });
  after(() => node[Symbol.asyncDispose]());

  it('a change is followed', async () => {
    for (let n = 0; n < 5; n++) await churn();
    await agrees();
    assert.equal((await loopbacksInVpp(node)).size, LOOPBACKS - 1);
  });

  it('after a kill and a restart changes are followed', async () => {
    await churn();
    await node.etcd.kill();
    await sleep(1000);
    await node.etcd.start();
    await churn();
    await agrees();
  });

  it(`a hang of ${pause} s neither blocks CNI nor fails liveness`, async () => {
    await churn();
    const early = await node.pod('early');
    await node.etcd.suspend();
    // Written while etcd hangs: checked after it resumes.
    const lost = node.reflect('lost', '10.1.1.98').catch(() => undefined);
    try {
      await sleep(pause * 500);
      const during = await node.pod('during');
      await ping(during, early.address);
      assert.equal((await node.agent.delete(during)).result, 0);
      await sleep(pause * 500);
      assert.equal((await node.agent.get('/liveness')).status, 200);
      assert.notEqual((await node.agent.get('/readiness')).status, 200);
    } finally {
      node.etcd.resume();
      await lost;
    }
    await until('etcd answers', () =>
      node.etcd.store.probe().then(
        () => true,
        () => false,
      ),
    );
    await churn();
    await agrees();
    await until(
      'the agent is ready',
      async () => (await node.agent.get('/readiness')).status === 200,
    );
    assert.equal((await node.agent.delete(early)).result, 0);
  });

  it('after a compaction while the agent is stopped, the agent reads everything again', async () => {
    await churn();
    await node.agent.end('SIGKILL');
    await churn();
    await node.etcd.compact();
    await churn();
    await node.agent.start();
    await agrees();
  });

  it('after a compaction past the watch of a suspended agent, the agent reads everything again', async () => {
    await churn();
    await agrees();
    const resyncs = async () =>
      (await node.agent.history()).filter(({ Name }) => Name === 'Database Resync').length;
    const resyncsBefore = await resyncs();
    await node.agent.suspend();
    try {
      // Ends the connection and discards what etcd has sent already.
      await node.etcd.kill();
      await node.etcd.start();
      await churn();
      await node.etcd.compact();
      await churn();
    } finally {
      node.agent.resume();
    }
    await agrees();
    assert.ok((await resyncs()) > resyncsBefore, 'a watch was resumed over a gap');
  });
});
