import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';
import { shopPods } from './support/shop-pods.ts';

interface Listed {
  readonly sources: string[];
  readonly destinations: string[];
  readonly connections: { from: string; to: string; ports: string }[];
}

describe('connectivity', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
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

  const cell = (from: string, to: string) =>
    view.page.getByRole('link', { name: new RegExp(`^${from}\\[\\w+\\] to ${to}\\[\\w+\\]:`) });
  const focusedLabel = () => view.page.locator(':focus').getAttribute('aria-label');

  it('shows all pairs of the shop as the agent lists them', async () => {
    await view.show('connectivity');
    const { body } = await shop.get('/contiv/v1/policy/connectivity');
    const { sources, destinations, connections } = body as Listed;
    const rows = view.page.locator('.matrix tbody tr');
    assert.equal(await rows.count(), sources.length);
    assert.equal(await view.page.locator('.matrix thead th').count(), destinations.length);
    const permitted = await view.page.locator('.matrix a.permitted').count();
    assert.equal(permitted, connections.length);
    assert.equal(await cell('storefront/web', 'storefront/catalog').innerText(), 'TCP 8081');
    assert.equal(await cell('storefront/web', 'backoffice/ledger').innerText(), '–');
    await view.assertAccessible();
  });

  it('explains why web may reach catalog', async () => {
    await view.show('connectivity');
    await cell('storefront/web', 'storefront/catalog').click();
    const pair = view.page.locator('.pair');
    await pair.getByText('accepted by').last().waitFor();
    const text = await pair.innerText();
    assert.match(text, /may reach TCP 8081 of storefront\/catalog-/);
    assert.match(text, /storefront\/web-egress, spec\.egress\[0\]/);
    assert.match(text, /storefront\/from-web, spec\.ingress\[0\]/);
    const trace = await pair.getByRole('link', { name: 'Trace TCP 8081' }).getAttribute('href');
    const query = new URLSearchParams(trace?.split('?')[1]);
    assert.equal(query.get('port'), 'TCP/8081');
    assert.match(query.get('from') ?? '', /^storefront\/web-/);
    await view.assertAccessible();
  });

  it('explains why web may not reach ledger, with a link that can be shared', async () => {
    const query = new URLSearchParams({
      from: podOf('storefront/web'),
      to: podOf('backoffice/ledger'),
      port: 'TCP/5432',
    });
    await view.show(`connectivity?${query}`);
    const pair = view.page.locator('.pair');
    const text = await pair.innerText();
    assert.match(text, /denied/);
    assert.match(text, /To backoffice\/ledger-\S+:\s+denied by /);
    assert.match(text, /From storefront\/web-\S+:\s+denied by /);
    await pair.getByRole('link', { name: 'Close' }).click();
    await pair.waitFor({ state: 'detached' });
  });

  it('selects by namespace, text and side', async () => {
    await view.show('connectivity');
    const status = view.page.locator('main [role=status]');
    await view.page.getByLabel('Namespace').selectOption('storefront');
    await status.getByText('13 sources, 11 destinations').waitFor();
    await view.page.getByLabel('Text in the name').fill('web');
    await status.getByText('1 sources, 1 destinations').waitFor();
    await view.page.getByLabel('Applies to').selectOption('sources');
    await status.getByText('1 sources, 19 destinations').waitFor();
    assert.match(view.page.url(), /namespace=storefront&search=web&side=sources/);
    await view.page.getByLabel('Text in the name').fill('nothing');
    await view.page.getByText('No pod and no workload').waitFor();
    await view.assertAccessible();
  });

  it('can be used with the keyboard alone', async () => {
    await view.show('connectivity?namespace=storefront&search=storefront');
    const { keyboard } = view.page;
    await view.page.getByLabel('Applies to').focus();
    await keyboard.press('Tab');
    assert.match(
      (await focusedLabel()) ?? '',
      /^storefront\/basket-store\S+ to storefront\/basket-store/,
    );
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowRight');
    assert.match(
      (await focusedLabel()) ?? '',
      /^storefront\/basket\[\w+\] to storefront\/basket\[/,
    );
    await keyboard.press('Control+End');
    assert.match((await focusedLabel()) ?? '', /^storefront\/web\S+ to storefront\/web/);
    await keyboard.press('Home');
    assert.match((await focusedLabel()) ?? '', /^storefront\/web\S+ to storefront\/basket-store/);
    await keyboard.press('ArrowRight');
    await keyboard.press('ArrowRight');
    await keyboard.press('Enter');
    await view.page.locator('.pair').getByText('may reach TCP 8081').waitFor();
    assert.match(
      await view.page.locator(':focus').innerText(),
      /^storefront\/web-\S+ → storefront\/catalog-/,
    );
  });

  it('reports pods and ports that do not exist', async () => {
    await view.show('connectivity?from=shop/none&to=shop/none');
    await view.page.getByText('no pod with an address has the name shop/none').waitFor();
    await view.page.getByLabel('Only this port').fill('http');
    await view.page.getByRole('button', { name: 'Explain' }).click();
    await view.page.getByText('has to be such as TCP/80').waitFor();
    await view.assertAccessible();
  });
});
