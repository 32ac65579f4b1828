/** The search of the header against an agent with the shop. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

describe('the search of the page', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
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
    view = await openPage(browser, shop.agent.port);
  });
  afterEach(async () => {
    assert.deepEqual(view.problems, []);
    await view.close();
  });

  it('is entered with a key, groups what it has found, and leads there', async () => {
    const { page, show, assertAccessible } = view;
    await show('');
    await page.keyboard.press('/');
    await page.keyboard.type('catalog');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'found for “catalog”' }).waitFor();
    for (const kind of ['Pods', 'Services', 'Policies', 'Events of the node', 'Values'])
      await page.getByRole('heading', { level: 2, name: kind }).waitFor();
    await assertAccessible();
    await page.getByRole('link', { name: 'storefront/catalog', exact: true }).first().click();
    await page.getByRole('heading', { level: 2, name: 'storefront/catalog' }).waitFor();
  });

  it('follows what is typed while it is open, and a slash in a field is a slash', async () => {
    const { page, show } = view;
    await show('search?for=nothing-of-this');
    await page.getByText('0 found for “nothing-of-this”').waitFor();
    const field = page.getByRole('searchbox', { name: /^Find pods/ });
    await field.fill('config');
    await field.press('End');
    await field.press('/');
    assert.equal(await field.inputValue(), 'config/');
    await page.getByText('found for “config/”').waitFor();
    await page.getByRole('link', { name: /^All [\d,]+$/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Configuration' }).waitFor();
    assert.match(page.url(), /#\/values\?search=config%2F$/);
  });

  it('fits 700 pixels', async () => {
    await view.page.setViewportSize({ width: 700, height: 800 });
    await view.show('search?for=catalog');
    await view.page.getByRole('heading', { level: 2, name: 'Values' }).waitFor();
    const width = await view.page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 700, `${width} pixels`);
  });
});
