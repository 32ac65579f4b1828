/** The search over the objects of a cluster, against an agent. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SearchResults } from '#documents/search.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { startShop } from '#test/ui/support/shop.ts';
import { type RunningAgent, until } from './harness.ts';
import { tellOfNode } from './scenario.ts';

describe('GET /contiv/v1/search', { timeout: 120_000 }, () => {
  let shop: RunningAgent;
  before(async () => {
    shop = await startShop();
    await tellOfNode(shop.node, 'node2', { id: 2, address: '172.16.0.2', vpp: '192.168.16.2/24' });
    const remote = resources.pod.model.canonical({
      namespace: 'storefront',
      name: 'catalog-remote',
      ip_address: '10.1.2.7',
      host_ip_address: '172.16.0.2',
    });
    const key = REFLECTOR_PREFIX + resources.pod.key('catalog-remote', 'storefront');
    await shop.node.cluster.put(key, valueText(resources.pod, remote));
    await until(async () => (await search('catalog-remote'))['pods'] === 1);
  });
  after(() => shop?.stop());

  const results = async (words: string): Promise<SearchResults> => {
    const { status, body } = await shop.get(`/contiv/v1/search?for=${encodeURIComponent(words)}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as SearchResults;
  };
  const search = async (words: string): Promise<Record<string, number>> =>
    Object.fromEntries((await results(words)).groups.map(({ kind, matching }) => [kind, matching]));

  it('finds pods, with their nodes, services and policies by words of their names', async () => {
    const { groups } = await results('STOREFRONT catalog');
    const found = (kind: string) => groups.find((one) => one.kind === kind)!.found;
    assert.deepEqual(
      new Set(found('pods').map(({ name, node }) => [name.replace(/-.*/, ''), node].join(' '))),
      new Set(['storefront/catalog node1', 'storefront/catalog node2']),
    );
    assert.deepEqual(
      found('services').map(({ name }) => name),
      ['storefront/catalog'],
    );
    assert.ok(found('policies').every(({ details }) => details === 'NetworkPolicy'));
    assert.match(found('events')[0]!.details, /storefront\/catalog/);
  });

  it('finds by addresses', async () => {
    assert.equal((await search('10.1.2.7'))['pods'], 1);
    assert.equal((await search('192.168.16.2'))['nodes'], 1);
    assert.equal((await search('node2 id'))['nodes'], 1);
  });

  it('counts all and lists some', async () => {
    const { body } = await shop.get('/contiv/v1/search?for=storefront&limit=2');
    const pods = (body as SearchResults).groups.find(({ kind }) => kind === 'pods')!;
    assert.ok(pods.matching > 2);
    assert.equal(pods.found.length, 2);
  });

  it('asks for words', async () => {
    for (const query of ['', '?for=', '?for=%20', '?for=x&limit=0', '?for=x&limit=51'])
      assert.equal((await shop.get(`/contiv/v1/search${query}`)).status, 400, query);
  });
});
