/** The view of nodes against an agent in a cluster, whose simulated VPP counts the traffic of its tunnels. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { NodeDocument, NodeList } from '#documents/nodes.ts';
import {
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
  until,
} from '#test/cmd/agent/harness.ts';
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { eventually } from '#test/support/wait.ts';
import { openPage, startBrowser } from './support/browser-page.ts';
import { afterNextReading, growingTraffic, type Traffic } from './support/traffic.ts';

const LINE_CLASSES = `[...document.querySelectorAll('.node-map line')].map((line) =>
  line.getAttribute('class').trim())`;
const KEY = 'config/vpp/v2/interfaces/vxlan-default-5';

async function nodesOf(running: RunningAgent, query = ''): Promise<NodeList> {
  return (await running.get(`/contiv/v1/nodes?${query}`)).body as NodeList;
}

describe('nodes', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let node: Node;
  let traffic: Traffic;
  let running: RunningAgent;
  let nodes: readonly NodeDocument[] = [];
  /** Node 4 has no address of its VPP, and the tunnel to node 5 is refused. */
  before(async () => {
    browser = await startBrowser();
    node = makeNode();
    traffic = growingTraffic(node.vpp);
    await tellOfNode(node, 'node1', { address: '172.16.0.1' });
    for (const id of [2, 3, 4])
      await tellOfNode(node, `node${id}`, {
        id,
        address: `172.16.0.${id}`,
        vpp: id === 4 ? '' : `192.168.16.${id}/24`,
      });
    const connectVpp = node.vpp.connect();
    running = await startAgent(node, {
      environment: { ...node, connectVpp, vppStatistics: traffic.statistics },
    });
    await until(async () => (await nodesOf(running)).nodes.length === 4);
    // also each retry
    for (let nth = 1; nth <= 50; nth++)
      node.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name === 'vxlan_add_del_tunnel_v3');
    await tellOfNode(node, 'node5', { id: 5, address: '172.16.0.5', vpp: '192.168.16.5/24' });
    await until(async () => (await nodesOf(running)).nodes[4]?.tunnel?.state === 'RETRYING');
    ({ nodes } = await nodesOf(running));
    await traffic.set({
      vxlan_tunnel0: { rxBytes: 150_000, txBytes: 4_000, drops: 3 },
      vxlan_tunnel1: { rxBytes: 1_500, txBytes: 400 },
    });
  });
  after(async () => {
    await browser?.close();
    await running?.stop();
  });

  const open = () => openPage(browser, running.agent.port);

  it('shows them on a map and in a table, with the state and the losses of each tunnel', async () => {
    const { page, problems, show, assertAccessible, close } = await open();
    await page.clock.install();
    await show('nodes');
    await page.getByText('5 of 5 nodes shown').waitFor();
    const names = nodes.map(({ name }) => name);
    assert.deepEqual(await page.locator('table.nodes tbody th').allInnerTexts(), names);
    assert.deepEqual(
      await page.locator('.node-map a .name').allTextContents(),
      names.map((one) => `${one} `),
    );
    const row = (name: string) =>
      page.locator('table.nodes tbody tr').filter({ has: page.getByText(name, { exact: true }) });
    const cells = (name: string) => row(name).locator('td').allInnerTexts();
    assert.deepEqual((await cells('node1')).slice(0, 5), [
      '1',
      '192.168.16.1/24',
      '172.16.0.1',
      'none',
      'this node',
    ]);
    assert.deepEqual((await cells('node2')).slice(0, 5), [
      '2',
      '192.168.16.2/24',
      '172.16.0.2',
      'vxlan-default-2',
      'tunnel CONFIGURED',
    ]);
    assert.match((await cells('node4'))[4]!, /not reached\s+it has announced no IPv4 address/);
    assert.match((await cells('node5'))[4]!, /tunnel RETRYING\s+config\/vpp.*vxlan-default-5/);

    await afterNextReading(page);
    // a late reading on a busy machine makes other rates; five seconds later there is another one
    await eventually(async () => {
      assert.match(
        (await cells('node2')).slice(6).join(' '),
        /^1\.2 Mbit\/s 32 kbit\/s (2\.\d|3(\.\d)?)\/s$/,
      );
      assert.deepEqual((await cells('node3')).slice(6), ['12 kbit/s', '3.2 kbit/s', '0/s']);
    });
    assert.deepEqual((await cells('node4')).slice(6), ['–', '–', '–']);
    // the map says it in words, and with its lines
    assert.match(
      (await page.locator('.node-map a', { hasText: 'node2' }).textContent())!,
      /tunnel CONFIGURED\s*1\.2 Mbit\/s, drops [23](\.\d)?\/s/,
    );
    assert.match(
      (await page.locator('.node-map a', { hasText: 'node4' }).textContent())!,
      /not reached/,
    );
    const lines = await page.evaluate<string[]>(LINE_CLASSES);
    assert.deepEqual(lines, ['tunnel dropping', 'tunnel', 'tunnel faulty', 'tunnel faulty']);
    assert.match(
      (await row('node2').getByRole('img').getAttribute('aria-label'))!,
      /^in 1\.2 Mbit\/s, out 32 kbit\/s, drops/,
    );
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('shows only those with problems, or with a text', async () => {
    const { page, problems, show, assertAccessible, close } = await open();
    await show('nodes');
    await page.getByLabel('Show').selectOption('nodes with problems');
    await page.getByText('2 of 5 nodes shown').waitFor();
    assert.deepEqual(await page.locator('table.nodes tbody th').allInnerTexts(), [
      'node4',
      'node5',
    ]);
    assert.ok(page.url().endsWith('#/nodes?show=problems'), page.url());
    await assertAccessible();
    await show('nodes?search=172.16.0.3');
    await page.getByText('1 of 5 nodes shown').waitFor();
    assert.equal(await page.getByLabel('Search').inputValue(), '172.16.0.3');
    await page.getByLabel('Search').fill('no such node');
    await page.getByText('0 of 5 nodes shown').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('shows one of them, which is opened from the map with the keyboard', async () => {
    const { page, problems, show, assertAccessible, close } = await open();
    await page.clock.install();
    await show('nodes');
    await page.locator('.node-map a', { hasText: 'node2' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'node2' }).waitFor();
    await page.getByText('at 192.168.16.2 through a VXLAN tunnel').waitFor();
    await afterNextReading(page);
    await page.getByText(/Now: in 1\.2 Mbit\/s, out 32 kbit\/s, drops/).waitFor();
    await page.getByText('All counters').click();
    const [, { tunnel }] = (await nodesOf(running)).nodes as [NodeDocument, NodeDocument];
    const shown = await page
      .getByRole('row', { name: 'dropped by VPP' })
      .getByRole('cell')
      .innerText();
    assert.ok(Number(shown) > 0 && Number(shown) <= tunnel!.counters!.drops, shown);
    await assertAccessible();

    await show('nodes?node=node5');
    await page.getByRole('link', { name: KEY }).waitFor();
    assert.equal(
      await page.getByRole('link', { name: KEY }).first().getAttribute('href'),
      `#/values?key=${encodeURIComponent(KEY)}`,
    );
    await assertAccessible();
    await show('nodes?node=node9');
    await page.getByText('The cluster has no node node9 with an ID.').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('says that counters are unknown while VPP is unavailable', async () => {
    const { page, problems, show, assertAccessible, close } = await open();
    await page.clock.install();
    await show('nodes');
    await page.getByText('5 of 5 nodes shown').waitFor();
    const start = traffic.stop('VPP is not connected');
    await afterNextReading(page);
    await page.getByText('The counters of the tunnels are unknown: VPP is not connected').waitFor();
    assert.match(
      (await page.locator('.node-map a', { hasText: 'node2' }).textContent())!,
      /rates unknown/,
    );
    await assertAccessible();
    start();
    await afterNextReading(page);
    await page.getByText('The counters of the tunnels are unknown').waitFor({ state: 'hidden' });
    assert.deepEqual(problems, []);
    await close();
  });

  it('shows nodes that join and leave, without a reload', async () => {
    const { page, problems, show, close } = await open();
    await show('nodes');
    await page.getByText('5 of 5 nodes shown').waitFor();
    await tellOfNode(node, 'node6', { id: 6, address: '172.16.0.6', vpp: '192.168.16.6/24' });
    await page.getByText('6 of 6 nodes shown').waitFor();
    await page.locator('.node-map a', { hasText: 'node6' }).waitFor();
    assert.deepEqual(problems, []);
    await close();
  });
});

describe('many nodes', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  const COUNT = 230;
  let browser: Browser;
  let running: RunningAgent;
  before(async () => {
    browser = await startBrowser();
    const node = makeNode();
    for (let id = 2; id <= COUNT; id++)
      await tellOfNode(node, `worker-${id}`, {
        id,
        address: `172.16.0.${id}`,
        vpp: `192.168.16.${id}/24`,
      });
    running = await startAgent(node);
  });
  after(async () => {
    await browser?.close();
    await running?.stop();
  });

  it('are the first 200 in a table, with a search for the others and no map', async () => {
    const { page, problems, show, close } = await openPage(browser, running.agent.port);
    await show('nodes');
    await page.getByText(`200 of ${COUNT} nodes shown. Search for others.`).waitFor();
    assert.equal(await page.locator('table.nodes tbody tr').count(), 200);
    assert.equal(await page.locator('.node-map').count(), 0);
    await page.getByText('The map is drawn for up to 24 other nodes').waitFor();
    assert.ok(
      await page.evaluate<boolean>(
        'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
      ),
    );
    await page.getByLabel('Search').fill('worker-22');
    await page.getByText(`11 of ${COUNT} nodes shown`).waitFor();
    assert.equal(await page.locator('.node-map a').count(), 11);
    assert.deepEqual(problems, []);
    await close();
  });
});
