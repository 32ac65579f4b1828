/**
 * Whatever happens to etcd or to the way there, the agent ends up with what etcd holds.
 * VPP_ETCD_PAUSE is for how many seconds etcd hangs.
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

/** `<namespace>/<name>` of the Pod records that etcd holds. */
async function podsInEtcd({ etcd }: RealNode): Promise<string[]> {
  const { entries } = await etcd.store.list(REFLECTOR_PREFIX + resources.pod.keyPrefix);
  return entries
    .map(({ key }) => resources.pod.parseKey(key.slice(REFLECTOR_PREFIX.length))!)
    .map(({ name, namespace }) => `${namespace}/${name}`)
    .sort();
}

/** Addresses of the loopbacks that etcd asks for, by name. */
async function loopbacksInEtcd({ etcd }: RealNode): Promise<Map<string, string[]>> {
  const { entries } = await etcd.store.list(configuration);
  return new Map(
    entries.map(({ value }) => {
      const { name, ip_addresses } = JSON.parse(value) as { name: string; ip_addresses: string[] };
      return [name, ip_addresses];
    }),
  );
}

/** Addresses of the loopbacks that VPP has, by name. */
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

describe('etcd in trouble', { skip: withoutNodes(), timeout: 240_000 }, () => {
  let node: RealNode;
  let round = 0;

  /** Puts, changes and deletes, so that what was missed or kept too long shows. */
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
      // in every round another one is away
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
    await until('the agent holds what etcd holds', same, 30_000).catch(() =>
      assert.deepEqual(seen, wanted),
    );
    assert.deepEqual(wanted, [await podsInEtcd(node), await loopbacksInEtcd(node)]);
    // and the watch is alive: the next change arrives by itself
    await node.reflect('now', '10.1.1.99');
    await until('a change arrives', async () =>
      podsInHistory(await node.agent.history()).has('default/now'),
    );
    await node.unreflect('now');
    await until(
      'its end arrives',
      async () => !podsInHistory(await node.agent.history()).has('default/now'),
    );
  }

  before(async () => {
    node = await RealNode.create();
    await node.agent.start();
  });
  after(() => node[Symbol.asyncDispose]());

  it('that changes is followed', async () => {
    for (let n = 0; n < 5; n++) await churn();
    await agrees();
    assert.equal((await loopbacksInVpp(node)).size, LOOPBACKS - 1);
  });

  it('that is killed and started again is followed on', async () => {
    await churn();
    await node.etcd.kill();
    await sleep(1000);
    await node.etcd.start();
    await churn();
    await agrees();
  });

  it(`that hangs for ${pause} s neither stops CNI nor fails liveness`, async () => {
    await churn();
    const early = await node.pod('early');
    node.etcd.signal('SIGSTOP');
    // written into the hanging database: whether it arrives is seen afterwards
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
      node.etcd.signal('SIGCONT');
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
      'readiness is back',
      async () => (await node.agent.get('/readiness')).status === 200,
    );
    assert.equal((await node.agent.delete(early)).result, 0);
  });

  it('that is compacted while the agent is away is read anew', async () => {
    await churn();
    await node.agent.end('SIGKILL');
    await churn();
    await node.etcd.compact();
    await churn();
    await node.agent.start();
    await agrees();
  });

  it('that forgets what the watch of a suspended agent needs is read anew', async () => {
    await churn();
    await agrees();
    const resyncs = async () =>
      (await node.agent.history()).filter(({ Name }) => Name === 'Database Resync').length;
    const resyncsBefore = await resyncs();
    node.agent.signal('SIGSTOP');
    try {
      // the connection ends, and with it what etcd had sent already
      await node.etcd.kill();
      await node.etcd.start();
      await churn();
      await node.etcd.compact();
      await churn();
    } finally {
      node.agent.signal('SIGCONT');
    }
    await agrees();
    assert.ok((await resyncs()) > resyncsBefore, 'a watch was resumed over a gap');
  });
});
