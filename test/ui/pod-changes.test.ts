/** Pods that are attached and detached while the page shows them, and a node that is full of them. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { PodList } from '#documents/pods.ts';
import {
  addPod,
  cniRequest,
  makeNode,
  type Node,
  type RunningAgent,
  type TestPod,
} from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

const NOT_FOUND = /404 \(Not Found\)/;

/** Lets the clock of the browser step, as NTP or its user do: `shiftClock(milliseconds)`. */
const SHIFTED_CLOCK = `{
  const now = Date.now;
  let shift = 0;
  Date.now = () => now() + shift;
  globalThis.shiftClock = (ms) => { shift += ms; };
}`;

describe('pods that come and go', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let node: Node;
  let shop: RunningAgent;
  before(async () => {
    browser = await startBrowser();
    node = makeNode();
    shop = await startShop({}, node);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  const detach = async (one: TestPod) => {
    const { error } = await shop.client.delete(cniRequest(one));
    assert.equal(error, '');
  };

  const pod = { name: 'late', containerId: 'late-container', netns: '/run/netns/late' };

  it('are shown when they are attached, and said to be detached', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
      { expected: NOT_FOUND },
    );
    await show('pods?search=default/late');
    await page.getByText(/^0 of \d+ pods shown/).waitFor();
    await addPod(shop, pod);
    await page.getByRole('link', { name: 'default/late' }).click();
    // exact: the list of pods shows the container as a part of the interface's name
    await page.getByText('late-container', { exact: true }).waitFor();
    await detach(pod);
    await page.getByText('Pod default/late has been detached from this node.').waitFor();
    await assertAccessible();
    await show('pods?pod=default/never');
    await page.getByText('Pod default/never is not attached to this node.').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('are said to be detached at once after the clock of the browser was set back', async () => {
    const { page, problems, show, close } = await openPage(browser, shop.agent.port, {
      expected: NOT_FOUND,
    });
    await page.addInitScript({ content: SHIFTED_CLOCK });
    await addPod(shop, pod);
    await show('pods?pod=default/late');
    await page.getByText('late-container', { exact: true }).waitFor();
    await page.evaluate('shiftClock(-3_600_000)');
    await detach(pod);
    await page.getByText('Pod default/late has been detached from this node.').waitFor();
    assert.deepEqual(problems, []);
    await close();
  });

  it('have the same age after the clock of the browser was set forward', async () => {
    const { page, problems, show, close } = await openPage(browser, shop.agent.port);
    await page.addInitScript({ content: SHIFTED_CLOCK });
    const early = { name: 'early', containerId: 'early-container', netns: '/run/netns/early' };
    await addPod(shop, early);
    await show('pods?pod=default/early');
    await page.getByText('early-container', { exact: true }).waitFor();
    const age = page.getByText(/^\d+ (s|min|h) ago, /);
    const before = await age.innerText();
    const reconnected = page.waitForRequest(/controller\/events\?after=/);
    await page.evaluate('shiftClock(3_600_000)');
    // it is shown again each second
    await page.getByText(before, { exact: true }).waitFor({ state: 'detached' });
    assert.match(await age.innerText(), /^\d+ s ago, /);
    // the computer may have slept as long
    await reconnected;
    assert.deepEqual(problems, []);
    await close();
  });

  it('have no interface when their network namespace is another one', async () => {
    const lost = { name: 'lost', containerId: 'lost-container', netns: '/run/netns/lost' };
    await addPod(shop, lost);
    node.linux.removeNamespace(lost.netns);
    node.linux.addNamespace(lost.netns);
    shop.agent.controller.scheduleHealing('test', 0);
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
    );
    await show('pods?search=default/lost');
    await page.getByText('not connected').waitFor();
    const text = await page.locator('table.pods tbody').innerText();
    assert.match(text, /its path leads to another network namespace/);
    await assertAccessible();
    await page.getByRole('link', { name: 'default/lost' }).click();
    await page.getByText('Nothing is configured for it.').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('are 110 on a full node, in a page that is not scrolled sideways', async () => {
    const names = Array.from({ length: 90 }, (_, n) => `many-${n}`);
    for (const name of names)
      await addPod(shop, { name, containerId: `${name}-container`, netns: `/run/netns/${name}` });
    const { page, problems, show, close } = await openPage(browser, shop.agent.port);
    await show('pods');
    const { body } = await shop.get('/contiv/v1/pods');
    const { total } = body as PodList;
    assert.ok(total >= 110, String(total));
    await page.getByText(`${total} of ${total} pods shown`).waitFor();
    assert.equal(await page.locator('table.pods tbody tr').count(), total);
    assert.ok(
      await page.evaluate<boolean>(
        'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
      ),
    );
    // charts are only made where they are seen
    assert.ok((await page.locator('.sparkline canvas').count()) < total / 2);
    assert.deepEqual(problems, []);
    await close();
  });
});
