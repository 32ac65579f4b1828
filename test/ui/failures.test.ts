/** Every view of the page while a part of the node fails, and with 10,000 values. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { makeNode, type Node, type RunningAgent, until } from '#test/cmd/agent/harness.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

const MANY = 10_000;
const MAX_ROWS = 200;
const CONFIG = '/vnf-agent/node1/config/vpp/v2/';

describe('every view', { skip: withoutProgram('chromium'), timeout: 240_000 }, () => {
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

  /** Opens all views of the navigation, one after the other, as a user does. */
  async function eachView(
    opened: BrowserPage,
    check: (title: string) => Promise<void>,
  ): Promise<void> {
    const { page, show } = opened;
    await show('');
    const titles = await page.locator('nav a').allInnerTexts();
    assert.ok(titles.length >= 9, titles.join());
    for (const title of titles) {
      await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await opened.settled();
      await check(title);
    }
  }

  async function assertEachUsable(expected?: RegExp, isAudited = false): Promise<void> {
    const opened = await openPage(browser, shop.agent.port, expected && { expected });
    await eachView(opened, async (title) => {
      const text = await opened.page.innerText('main');
      assert.ok(text.length > title.length + 20, `${title}: ${text}`);
      assert.doesNotMatch(text, /\bundefined\b|\bNaN\b|\[object/, title);
      assert.equal(
        await opened.page.evaluate('document.documentElement.scrollWidth > innerWidth'),
        false,
        title,
      );
      // An error has the same elements in every view: once more is enough for all failures.
      if (isAudited) await opened.assertAccessible();
    });
    assert.deepEqual(opened.problems, []);
    await opened.close();
  }

  it('can be used with the shop', () => assertEachUsable(undefined, true));

  it('can be used while VPP is disconnected', async () => {
    node.vpp.crash();
    await until(async () => (await shop.get('/readiness')).status === 500);
    try {
      // Documents that need VPP are errors, which the view states.
      await assertEachUsable(/status of 5\d\d/, true);
    } finally {
      await node.vpp.start();
    }
    await until(async () => (await shop.get('/readiness')).status === 200);
  });

  it('can be used while etcd does not answer', async () => {
    cluster.disconnect();
    try {
      await until(async () => (await shop.get('/readiness')).status === 500);
      await assertEachUsable(/status of 500.*readiness/);
    } finally {
      cluster.reconnect();
    }
    await until(async () => (await shop.get('/readiness')).status === 200);
  });

  it('can be used with a value that fails', async () => {
    const key = `${CONFIG}interfaces/bad`;
    await cluster.put(key, '{"name":"bad","type":"DPDK","phys_address":"02:00:00:00:00:01"}');
    await until(async () => (await shop.get('/readiness')).status === 500);
    await assertEachUsable(/status of 500.*readiness/);
    await cluster.delete(key);
  });

  it(`can be used with ${MANY} values, and has at most ${MAX_ROWS} rows`, async () => {
    const loopback = {
      name: 'many',
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      ip_addresses: ['172.29.0.1/24'],
    };
    await cluster.put(`${CONFIG}interfaces/many`, JSON.stringify(loopback));
    for (let n = 0; n < MANY; n++) {
      const dst_network = `20.0.${n >> 8}.${n & 255}/32`;
      const route = { dst_network, next_hop_addr: '172.29.0.2', outgoing_interface: 'many' };
      await cluster.put(
        `${CONFIG}route/if/many/vrf/0/dst/${dst_network}/gw/172.29.0.2`,
        JSON.stringify(route),
      );
    }
    await until(async () => {
      const { body } = await shop.get('/scheduler/values?state=CONFIGURED&search=20.0.&limit=1');
      return (body as { matches: number }).matches >= MANY;
    });
    const opened = await openPage(browser, shop.agent.port);
    await eachView(opened, async (title) => {
      for (const table of await opened.page.locator('table').all())
        assert.ok((await table.locator('tbody tr').count()) <= MAX_ROWS, title);
      assert.ok((await opened.page.locator('*').count()) < 6_000, title);
    });
    assert.deepEqual(opened.problems, []);
    await opened.close();
  });
});
