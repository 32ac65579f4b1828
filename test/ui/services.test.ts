/** The views of services and policies against an agent with the shop. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { PolicyPodSummary } from '#documents/policies.ts';
import type { ServiceDocument, ServiceSummary } from '#documents/services.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { clusterPolicy } from '#test/plugins/policy/policy-objects.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

describe('services and policies', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let shop: RunningAgent;
  let view: BrowserPage;
  before(async () => {
    [browser, shop] = await Promise.all([startBrowser(), startShop()]);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });
  beforeEach(async () => {
    view = await openPage(browser, shop.agent.port, { expected: /status of 404/ });
  });
  afterEach(async () => {
    assert.deepEqual(view.problems, []);
    await view.close();
  });

  const get = async <T>(path: string): Promise<T> => (await shop.get(path)).body as T;
  const rows = (table: string) => view.page.locator(`table.${table} tbody tr`);
  const count = () => view.page.getByRole('status').filter({ hasText: 'shown' }).innerText();

  it('lists the services with their addresses, backends and states', async () => {
    await view.show('services');
    const all = await get<ServiceSummary[]>('/contiv/v1/services');
    assert.equal(await count(), `${all.length} of ${all.length} services shown`);
    const catalog = all.find(({ name }) => name === 'storefront/catalog')!;
    const row = rows('services').filter({ hasText: 'storefront/catalog' });
    const { address, port } = catalog.addresses[0]!;
    assert.match(await row.innerText(), new RegExp(`cluster IP ${address}:${port} TCP`));
    assert.match(await row.innerText(), /CONFIGURED/);
    await view.assertAccessible();
  });

  it('finds services by words, and those with problems', async () => {
    await view.show('services');
    await view.page.getByLabel('Search').fill('catalog cluster');
    await view.page.getByText('1 of').waitFor();
    assert.equal(await rows('services').count(), 1);
    await view.page.getByLabel('Search').fill('');
    await view.page.getByLabel('Show').selectOption('problems');
    await view.page.getByText(/^0 of/).waitFor();
  });

  it('shows each backend of one service, with its pod', async () => {
    await view.show('services');
    await view.page.getByRole('link', { name: 'storefront/catalog', exact: true }).click();
    await view.page.getByRole('heading', { level: 2, name: 'storefront/catalog' }).waitFor();
    await view.settled();
    const { addresses } = await get<ServiceDocument>('/contiv/v1/services/storefront/catalog');
    const backends = addresses.flatMap((address) => address.backends);
    const table = view.page.locator('main table tbody tr');
    assert.equal(await table.count(), backends.length);
    assert.match(await table.first().innerText(), new RegExp(`${backends[0]!.pod}.*used`, 's'));
    const carried = await view.page.getByRole('listitem').filter({ hasText: 'dnat44' }).innerText();
    assert.match(carried, /^NAT44 CONFIGURED config\/vpp\/nat\/v2\/dnat44/);
    assert.doesNotMatch(carried, /not found/);
    await view.assertAccessible();
    await view.show('services?service=storefront/none');
    assert.match(
      await view.page.getByRole('alert').innerText(),
      /The cluster has no service storefront\/none/,
    );
  });

  it('lists the policies of the pods, and the rules of one in their order', async () => {
    await view.show('policies');
    await view.page.getByText('This node enforces each ClusterNetworkPolicy').waitFor();
    const all = await get<PolicyPodSummary[]>('/contiv/v1/policy/pods');
    assert.equal(await count(), `${all.length} of ${all.length} pods shown`);
    await view.assertAccessible();
    const isolated = all.find(({ ingress }) => ingress.length > 0)!;
    await view.page.getByRole('link', { name: isolated.name, exact: true }).click();
    await view.page.getByRole('heading', { level: 2, name: isolated.name }).waitFor();
    await view.settled();
    const text = await view.page.locator('main').innerText();
    assert.ok(text.includes(`Decided by ${isolated.ingress.join(', ')}`), text);
    assert.match(text, /Accept\s.*NetworkPolicy: /s);
    await view.assertAccessible();
  });

  it('names the policies of the cluster that are not enforced, also on the overview', async () => {
    const { clusternetworkpolicy: kind } = resources;
    const policy = clusterPolicy({
      name: 'without-sctp',
      subject: { pods: {}, namespaces: {} },
      egress: [
        {
          action: 'DENY',
          peer: [{ networks: { cidr: ['192.0.2.0/24'] } }],
          port: [{ protocol: 'SCTP', first: 80, last: 80 }],
        },
      ],
    });
    const key = REFLECTOR_PREFIX + kind.key(policy.name, '');
    await shop.node.cluster.put(key, valueText(kind, policy));
    await view.show('policies');
    const row = rows('not-enforced').filter({ hasText: 'without-sctp' });
    assert.match(await row.innerText(), /NotCarried/);
    await view.assertAccessible();
    await view.show('');
    await view.page.getByRole('link', { name: 'policy without-sctp' }).click();
    await view.page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    await shop.node.cluster.delete(key);
    await row.waitFor({ state: 'detached' });
  });

  it('names the node in header and title, and fits 700 pixels', async () => {
    await view.page.setViewportSize({ width: 700, height: 800 });
    await view.show('services');
    await view.page.getByText('node node1', { exact: true }).waitFor();
    assert.equal(await view.page.title(), 'Services – node1 – contiv-vswitch');
    for (const name of ['services', 'policies']) {
      await view.show(name);
      const width = await view.page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(width <= 700, `${name}: ${width} pixels`);
    }
  });
});
