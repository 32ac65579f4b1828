/** The overview against an agent with the shop, and while something fails. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { makeNode, type Node, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { openPage, startBrowser } from './support/browser-page.ts';
import { forwardPort } from './support/forwarded-port.ts';
import { startShop } from './support/shop.ts';

/** The clock of the browser is ten minutes behind that of the agent; `passMinute()` sets it back by another ten. */
const SLOW_CLOCK = `{
  const now = Date.now;
  const elapsed = performance.now.bind(performance);
  let minutes = 0;
  Date.now = () => now() - 600_000 * (1 + minutes);
  performance.now = () => elapsed() + 60_000 * minutes;
  globalThis.passMinute = () => { minutes++; };
}`;

const BAD_KEY = 'config/vpp/v2/interfaces/bad';

/** Text of the list of what needs attention, when it has what is looked for. */
async function concern(page: Page, text: string | RegExp): Promise<string> {
  const item = page.locator('.concerns li').filter({ hasText: text }).first();
  await item.waitFor();
  return await item.innerText();
}

describe('overview', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let shop: RunningAgent;
  let node: Node;
  let cluster: FaultInjectingStore;
  before(async () => {
    browser = await startBrowser();
    node = makeNode();
    cluster = new FaultInjectingStore(node.cluster);
    shop = await startShop(
      { environment: { ...node, cluster, connectVpp: node.vpp.connect() } },
      node,
    );
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  it('shows the node, its pods, values, events and components', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
    );
    await show('');
    await page.getByText('All components work').waitFor();
    const text = await page.innerText('main');
    assert.match(text, /node1/);
    assert.match(text, /192\.168\.16\.1\b/);
    const { body } = await shop.get('/contiv/v1/ipam/allocations');
    const { Pods: pods } = body as { Pods: unknown[] };
    assert.equal(
      await page.locator('section[aria-labelledby=pods] .figure').innerText(),
      String(pods.length),
    );
    const { body: snapshot } = await shop.get('/scheduler/graph-snapshot');
    const total = (snapshot as unknown[]).length;
    assert.equal(
      await page.locator('section[aria-labelledby=values] .figure').innerText(),
      String(total),
    );
    const { body: readiness } = await shop.get('/readiness');
    const components = Object.keys((readiness as { PluginStatus: object }).PluginStatus);
    assert.deepEqual(
      (await page.locator('.components tbody th').allInnerTexts()).sort(),
      components.sort(),
    );
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('shows an event when it has been processed, without a reload', async () => {
    const { page, problems, show, close } = await openPage(browser, shop.agent.port);
    await show('');
    const count = () => page.locator('section[aria-labelledby=events] .figure').innerText();
    const before = Number(await count());
    shop.agent.controller.scheduleHealing('test', 0);
    await page.getByRole('link', { name: 'Healing Resync' }).waitFor();
    assert.ok(Number(await count()) > 0, `${before} before`);
    assert.deepEqual(problems, []);
    await close();
  });

  it('says that a value failed, why, and leads to it', async () => {
    const { page, show, assertAccessible, close } = await openPage(browser, shop.agent.port);
    await show('');
    await cluster.put(
      `/vnf-agent/node1/${BAD_KEY}`,
      '{"name":"bad","type":"DPDK","phys_address":"02:00:00:00:00:01"}',
    );
    assert.match(await concern(page, BAD_KEY), /error/);
    const link = page.locator('.concerns a[href*=values]', { hasText: BAD_KEY }).first();
    assert.match((await link.getAttribute('href')) ?? '', /#\/values\?key=config%2Fvpp/);
    await assertAccessible();
    await cluster.delete(`/vnf-agent/node1/${BAD_KEY}`);
    // The event that failed is shown for some minutes more.
    await link.waitFor({ state: 'detached' });
    await close();
  });

  it('says that VPP is disconnected, and since when, until it is connected', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
      {
        // Readiness is status 500 then.
        expected: /status of 500.*readiness/,
      },
    );
    await show('');
    node.vpp.crash();
    const text = await concern(page, 'VPP disconnected');
    assert.match(text, /for \d+ s, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
    assert.match(text, /Do: Check that VPP runs/);
    await assertAccessible();
    const more = await openPage(browser, shop.agent.port);
    await more.show('help?component=vpp');
    await more.page.getByText('netctl report NODE').waitFor();
    await more.page.getByText('The agent reconnects by itself and runs').waitFor();
    await more.assertAccessible();
    await more.page.setViewportSize({ width: 700, height: 800 });
    const width = await more.page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 700, `${width} pixels`);
    await more.close();
    await node.vpp.start();
    await page
      .locator('.concerns li', { hasText: 'VPP disconnected' })
      .waitFor({ state: 'detached' });
    assert.deepEqual(problems, []);
    await close();
  });

  it('says that etcd does not answer, until it does', async () => {
    const { page, problems, show, close } = await openPage(browser, shop.agent.port, {
      expected: /status of 500.*readiness/,
    });
    await show('');
    cluster.disconnect();
    assert.match(await concern(page, 'etcd'), /error/);
    cluster.reconnect();
    await page.getByText('All components work').waitFor();
    assert.deepEqual(problems, []);
    await close();
  });

  it('says that the agent does not answer, and continues when it is back', async (t) => {
    const other = makeNode();
    let agent = await startAgent(other);
    t.after(() => agent.stop());
    await using forwarded = await forwardPort(agent.agent.port);
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      forwarded.port,
      {
        // Which error it is depends on the moment at which the connection breaks.
        expected: /net::ERR_/,
      },
    );
    await page.addInitScript({ content: SLOW_CLOCK });
    await show('');
    await page.getByText('live', { exact: true }).waitFor();
    forwarded.target = undefined;
    await agent.stop();
    await page.getByText('connection lost').waitFor();
    await page.getByText('The agent does not answer.').first().waitFor();
    await assertAccessible();
    agent = await startAgent(other);
    forwarded.target = agent.agent.port;
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('The agent does not answer.').first().waitFor({ state: 'detached' });
    await page.getByText('The agent was restarted').waitFor();
    await page.evaluate('passMinute()');
    await page.getByText('The agent was restarted').waitFor({ state: 'detached' });
    assert.deepEqual(problems, []);
    await close();
  });

  it('can be used with the keyboard, and says what it does not have', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
    );
    await show('');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    await show('nothing-here');
    await page.getByText('This page has no view “nothing-here”.').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });
});
