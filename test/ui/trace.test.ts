import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';
import { shopPods } from './support/shop-pods.ts';

// A script for the browser.
const HOP_LINKS = `[...document.querySelectorAll('.way a.decided')].map((one) => one.hash)`;

describe('trace', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let shop: RunningAgent;
  let podOf: (workload: string) => string;
  let view: BrowserPage;
  before(async () => {
    [browser, shop] = await Promise.all([startBrowser(), startShop()]);
    podOf = await shopPods(shop);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });
  beforeEach(async () => {
    view = await openPage(browser, shop.agent.port, { expected: /status of 40[04]/ });
  });
  afterEach(async () => {
    assert.deepEqual(view.problems, []);
    await view.close();
  });

  it('traces from the form, with the pods of the node offered', async () => {
    await view.show('trace');
    await view.assertAccessible();
    const offered = view.page.locator(`#trace-pods option[value="${podOf('storefront/web')}"]`);
    assert.equal(await offered.count(), 1);
    await view.page.getByLabel('From').fill(podOf('storefront/web'));
    await view.page.getByLabel('To').fill('storefront/catalog');
    await view.page.getByRole('button', { name: 'Trace' }).click();
    await view.page.getByRole('heading', { name: /Path 2 of 2 · 50 % of connections/ }).waitFor();
    assert.match(view.page.url(), /to=storefront%2Fcatalog/);
    assert.equal(await view.page.locator('.way').count(), 4);
    const text = await view.page.innerText('main');
    assert.match(text, /service storefront\/catalog: \S+:80 is translated to \S+:8081/);
    assert.match(text, /reply of service storefront\/catalog/);
    const hrefs = await view.page.evaluate<string[]>(HOP_LINKS);
    const keys = hrefs.map((hash) => new URLSearchParams(hash.split('?')[1]).get('key'));
    assert.ok(keys.includes('config/vpp/nat/v2/dnat44/storefront/catalog'));
    await view.assertAccessible();
  });

  it('shows the ACL that drops a packet, from a link', async () => {
    const [from, to] = [podOf('storefront/web'), podOf('backoffice/ledger')];
    await view.show(`trace?${new URLSearchParams({ from, to, port: 'TCP/5432' })}`);
    const text = await view.page.innerText('main');
    assert.match(text, /not delivered/);
    assert.match(text, /denied at the output of .* of ACL/);
    assert.equal(await view.page.getByRole('heading', { name: /^Reply/ }).count(), 0);
    assert.equal(await view.page.getByLabel('Port').inputValue(), 'TCP/5432');
    const said = view.page.getByRole('link', { name: 'What the policies say' });
    assert.match((await said.getAttribute('href')) ?? '', /port=TCP%2F5432/);
    await view.assertAccessible();
  });

  it('traces through the desired state', async () => {
    const query = { from: podOf('storefront/web'), to: 'storefront/catalog', view: 'NB' };
    await view.show(`trace?${new URLSearchParams(query)}`);
    assert.equal(await view.page.getByLabel('Through').inputValue(), 'NB');
    assert.equal(await view.page.locator('.way').count(), 4);
  });

  it('reports names and ports that cannot be traced', async () => {
    await view.show('trace?from=shop/none&to=shop/none');
    await view.page.getByText('no pod with an address has the name shop/none').waitFor();
    await view.assertAccessible();
    const from = podOf('storefront/web');
    await view.show(`trace?${new URLSearchParams({ from, to: 'backoffice/orders' })}`);
    await view.page.getByText('service backoffice/orders has TCP/7000, TCP/7100').waitFor();
  });

  it('is used with the keyboard alone', async () => {
    await view.show('trace');
    const { keyboard } = view.page;
    await view.page.getByLabel('From').focus();
    await keyboard.type(podOf('storefront/web'));
    await keyboard.press('Tab');
    await keyboard.type(podOf('storefront/catalog'));
    await keyboard.press('Tab');
    await keyboard.type('8081');
    await keyboard.press('Enter');
    await view.page.getByText('TCP port 8081').waitFor();
    assert.equal(await view.page.locator('.way').count(), 2);
  });
});
