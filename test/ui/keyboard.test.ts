/** Every kind of link and button of every view, by keyboard: the focus never falls back to the top of the page. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';
import { addUnluckyPod } from './support/unlucky-pod.ts';

// Scripts for the page, as text: the types of a browser are not those of this program.
/** One selector for each kind: the view and the names of the arguments of a link, the text of a button. */
const KINDS = `(() => {
  const kinds = new Map();
  for (const [at, element] of [...document.querySelectorAll('main a[href^="#"], main button:enabled')].entries()) {
    const kind = element.matches('a')
      ? element.getAttribute('href').replace(/=[^&]*/g, '')
      : element.innerText;
    if (!kinds.has(kind)) kinds.set(kind, at);
  }
  return [...kinds];
})()`;
const FOCUSED = `document.activeElement.tagName + ' ' + document.activeElement.innerText.slice(0, 50)`;

describe('the keyboard', { skip: withoutProgram('chromium'), timeout: 240_000 }, () => {
  let browser: Browser;
  let shop: RunningAgent;
  let unlucky: Awaited<ReturnType<typeof addUnluckyPod>>;
  before(async () => {
    [browser, shop] = await Promise.all([startBrowser(), startShop()]);
    unlucky = await addUnluckyPod(shop);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  it('keeps its place after each link and button', async (t) => {
    const { page, show, settled, close } = await openPage(browser, shop.agent.port);
    t.after(close);
    const nodes = (await shop.get('/contiv/v1/nodes')).body as { name: string }[];
    const views = [
      ...[
        '',
        'events',
        'transactions',
        'values',
        'pods',
        'nodes',
        'flows',
        'connectivity',
        'trace',
        'plan',
      ],
      ...[`events?event=${unlucky.event}`, `transactions?txn=${unlucky.transaction}`],
      ...['pods?pod=storefront/basket-store-0', `nodes?node=${nodes[0]?.name}`],
    ];
    let tried = 0;
    for (const view of views) {
      await show(view);
      const kinds = await page.evaluate<[kind: string, at: number][]>(KINDS);
      for (const [kind, at] of kinds) {
        await show('');
        await show(view);
        await page.locator('main a[href^="#"], main button:enabled').nth(at).focus();
        await page.keyboard.press('Enter');
        await settled();
        const focused = await page.evaluate<string>(FOCUSED);
        assert.doesNotMatch(focused, /^BODY/, `${kind} in ${view}`);
        tried++;
      }
    }
    assert.ok(tried > 30, `${tried} links and buttons`);
    t.diagnostic(`${tried} links and buttons in ${views.length} views`);
  });
});
