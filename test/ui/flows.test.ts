/** The view of flows against an agent with the shop, whose connections come from a simulated kernel. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { makeNode, type RunningAgent } from '#test/cmd/agent/harness.ts';
import { ended, opened, unanswered } from '#test/flows/connection-events.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

interface Allocations {
  readonly Pods: readonly {
    readonly PodID: { readonly Name: string; readonly Namespace: string };
    readonly MainIP: string;
  }[];
}

describe('view of flows', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  const flowSource = new SimFlowSource();
  let browser: Browser;
  let shop: RunningAgent;
  let view: BrowserPage;
  let web = '';
  before(async () => {
    const node = makeNode();
    const environment = { ...node, connectVpp: node.vpp.connect(), flowSource };
    [browser, shop] = await Promise.all([startBrowser(), startShop({ environment }, node)]);
    const { Pods } = (await shop.get('/contiv/v1/ipam/allocations')).body as Allocations;
    const addressOf = (app: string) =>
      Pods.find(({ PodID }) => PodID.Namespace === 'storefront' && PodID.Name.startsWith(app))!;
    const [client, server] = [addressOf('web'), addressOf('catalog')];
    web = `storefront/${client.PodID.Name}`;
    const now = Date.now();
    const ends = {
      time: now,
      begun: now,
      local: { address: client.MainIP, port: 40_000 },
      remote: { address: server.MainIP, port: 8080 },
    };
    const outside = { ...ends, remote: { address: '203.0.113.9', port: 443 } };
    flowSource.push(
      opened('1', ends),
      ended('1', { ...ends, sent: 1_500, received: 2_500_000 }),
      opened('2', ends),
      ended('3', { ...ends, outcome: 'refused' }),
      unanswered('4', outside),
    );
    await until('flows are read', async () => {
      const { body } = await shop.get('/contiv/v1/flows');
      return (body as { flows: unknown[] }).flows.length === 4;
    });
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

  const rows = (table: string) => view.page.locator(`table.${table} tbody tr`);

  it('lists connections with names, bytes and verdicts, and who talks to whom', async () => {
    await view.show('flows');
    await view.page.getByRole('status').filter({ hasText: '4 connections in memory' }).waitFor();
    assert.equal(await rows('flows').count(), 4);
    const closed = await rows('flows').filter({ hasText: 'closed' }).innerText();
    assert.match(closed, /storefront\/web.*storefront\/catalog.*:8080.*1\.5 kB.*2\.5 MB/s);
    const pairs = rows('pairs');
    assert.equal(await pairs.count(), 2);
    assert.match(await pairs.first().innerText(), /storefront\/web\s+storefront\/catalog:8080\s+3/);
    assert.equal(await view.page.locator('.flow-graph .edge').count(), 2);
    assert.equal(await view.page.locator('.flow-graph .edge.some-failed').count(), 1);
    assert.equal(await view.page.locator('.flow-graph .edge.failed').count(), 1);
    await view.assertAccessible();
  });

  it('selects by ends and verdict, also from the graph and from a pod', async () => {
    await view.show('flows');
    await view.page.getByLabel('Verdict').selectOption('refused');
    await view.page.getByText('The newest 1 shown').waitFor();
    await view.page.getByLabel('Verdict').selectOption('');
    await view.page.locator('.flow-graph a').filter({ hasText: '203.0.113.9' }).click();
    await view.page.getByText('The newest 1 shown').waitFor();
    await view.show(`pods?pod=${web}`);
    await view.page.getByRole('link', { name: 'Its flows' }).click();
    await view.page.getByText('The newest 4 shown').waitFor();
    await view.page.getByLabel('Client or server').fill('shop/none');
    await view.page.getByText('None of 4 connections in memory matches').waitFor();
  });

  it('fits 700 pixels', async () => {
    await view.page.setViewportSize({ width: 700, height: 800 });
    await view.show('flows');
    await rows('flows').first().waitFor();
    const width = await view.page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 700, `${width} pixels`);
  });
});
