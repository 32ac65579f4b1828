/** The page over all nodes: the agent that serves it asks the others, the browser asks only this one. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { AgentAddress } from '#cmd/agent/cluster/other-agents.ts';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import { create, web } from '#test/cmd/agent/test-pods.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';

describe('the page of a cluster', { skip: withoutProgram('chromium'), timeout: 180_000 }, () => {
  const addresses = new Map<string, AgentAddress>();
  let browser: Browser;
  let first: RunningAgent;
  let second: RunningAgent;
  let view: BrowserPage;
  before(async () => {
    browser = await startBrowser();
    const agentAddress = (name: string) => addresses.get(name);
    const node = makeNode();
    const other = { ...makeNode(), cluster: node.cluster };
    const http = { 'cluster-name': 'test' };
    first = await startAgent(node, {
      http,
      environment: { ...node, connectVpp: node.vpp.connect(), agentAddress },
    });
    second = await startAgent(other, {
      http,
      label: 'node2',
      environment: { ...other, connectVpp: other.vpp.connect(), agentAddress },
    });
    addresses.set('node1', { host: '127.0.0.1', port: first.agent.port });
    addresses.set('node2', { host: '127.0.0.1', port: second.agent.port });
    addresses.set('node3', { host: '127.0.0.1', port: 1 });
    await tellOfNode(node, 'node3', { id: 3, address: '172.16.0.3', vpp: '192.168.16.3/24' });
    await create(second, web);
  });
  after(async () => {
    await browser?.close();
    await first?.stop();
    await second?.stop();
  });
  beforeEach(async () => {
    view = await openPage(browser, first.agent.port, { expected: /status of (404|502)/ });
  });
  afterEach(async () => {
    assert.deepEqual(view.problems, []);
    await view.close();
  });

  const row = (name: string) =>
    view.page.locator('table.cluster tbody tr').filter({ hasText: name });

  it('shows all nodes with their states and problems, and why one does not answer', async () => {
    const { page, show, assertAccessible } = view;
    await show('cluster');
    await row('node3').getByText('connection refused').waitFor();
    assert.match(await row('node1').innerText(), /node1\s+1\s+(ready|not ready)\s+\d+ (s|min)/);
    await page.getByRole('heading', { name: 'Without an answer' }).waitFor();
    await page.getByText('Check the pod contiv-vswitch of the node').waitFor();
    assert.equal(await page.title(), 'Cluster – node1 – test – contiv-vswitch');
    await page.getByText('cluster test', { exact: true }).waitFor();
    await assertAccessible();
    await page.getByLabel('Search by name or ID').fill('node2');
    await page.getByText('Found: 1 of 3 nodes.').waitFor();
    await page.setViewportSize({ width: 700, height: 800 });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 700, `${width} pixels`);
  });

  it('shows each view of another node, live, and comes back', async () => {
    const { page, show, assertAccessible } = view;
    await show('cluster');
    await row('node2').getByRole('link').click();
    await page.getByText('Shown is node2: node1 asks it.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await assertAccessible();
    for (const title of await page.locator('nav a').allInnerTexts()) {
      await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await view.settled();
      const faults = await page.getByText('Cannot read').allInnerTexts();
      assert.deepEqual(
        faults.filter((text) => !/flows|connections/.test(text)),
        [],
        title,
      );
    }
    await page.getByRole('navigation').getByRole('link', { name: 'Pods' }).click();
    await page.getByRole('link', { name: 'default/web' }).first().click();
    await page.getByRole('heading', { name: 'default/web' }).waitFor();
    assert.match(page.url(), /#\/@node2\/pods\?pod=/);
    assert.match(await page.title(), /^default\/web – Pods – node2 – test –|^Pods – node2 – test/);
    await page.getByRole('link', { name: 'REST' }).first().isVisible();
    await page.getByRole('link', { name: 'Back to node1' }).click();
    await page.waitForURL(/#\/pods$/);
    await page.getByText('Shown is').waitFor({ state: 'detached' });
  });

  it('switches by the keyboard, and says why another node cannot be shown', async () => {
    const { page, show } = view;
    await show('events');
    await page.getByLabel('Node', { exact: true }).selectOption('node3');
    await page.getByText('Shown is node3').waitFor();
    await page
      .locator('.connection.problem')
      .filter({ hasText: 'Events do not arrive live: node3 (127.0.0.1:1): connection refused.' })
      .waitFor();
    assert.match(page.url(), /#\/@node3\/events$/);
  });

  it('is the plain page for a link to the node that serves it', async () => {
    await view.show('@node1/pods?search=web');
    await view.page.waitForURL(/#\/pods\?search=web$/);
    await view.page.getByText('live', { exact: true }).waitFor();
  });
});
