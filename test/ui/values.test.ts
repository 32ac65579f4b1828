/** The view of values against an agent with the shop, with failures, and with 10,000 values. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { makeNode, type Node, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

const CONFIG = 'config/vpp/v2';
const BAD = `${CONFIG}/interfaces/bad`;
const ABSENT = `${CONFIG}/interfaces/absent`;
const TAP = `${CONFIG}/interfaces/tap-vpp2`;
const STORE = '/vnf-agent/node1/';

interface Found {
  readonly matches: number;
  readonly total: number;
  readonly values: readonly { readonly key: string }[];
}

async function find(running: RunningAgent, query: string): Promise<Found> {
  return (await running.get(`/scheduler/values?${query}`)).body as Found;
}

/** Keys of the rows below a heading. */
async function keysBelow(page: Page, section: string): Promise<string[]> {
  return page.locator(`section[aria-labelledby=${section}] tbody td:first-child`).allInnerTexts();
}

function shown(page: Page, text: string): Promise<void> {
  return page.locator('section[aria-labelledby=found] [role=status]', { hasText: text }).waitFor();
}

/** Static route that an external component puts into the store. */
function route(nic: string, network: string): [key: string, value: string] {
  const gateway = '172.30.1.2';
  return [
    `${STORE}${CONFIG}/route/if/${nic}/vrf/0/dst/${network}/gw/${gateway}`,
    JSON.stringify({ dst_network: network, next_hop_addr: gateway, outgoing_interface: nic }),
  ];
}

function neighbor(address: string, mac: string): [key: string, value: string] {
  return [
    `${STORE}${CONFIG}/arp/tap-vpp2/${address}`,
    JSON.stringify({ interface: 'tap-vpp2', ip_address: address, phys_address: mac }),
  ];
}

describe('values of the shop', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let node: Node;
  let shop: RunningAgent;
  before(async () => {
    node = makeNode();
    [browser, shop] = await Promise.all([
      startBrowser(),
      // A value that fails stays so for the length of the test.
      startShop({ controller: { delayRetry: '1h' } }, node),
    ]);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  it('are found by words, state and descriptor, and the address says so', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
    );
    await show('values');
    await page.getByText('All values are configured.').waitFor();
    const all = await find(shop, '');
    await shown(page, `50 of ${all.total} values shown`);
    assert.deepEqual(
      await keysBelow(page, 'found'),
      all.values.map(({ key }) => key),
    );
    await page.getByText(`all states (${all.total})`).waitFor({ state: 'attached' });
    await assertAccessible();

    await page.getByRole('button', { name: 'Show 200' }).click();
    await shown(page, `200 of ${all.total} values shown`);
    await page.getByRole('link', { name: 'The next 200 values' }).click();
    await page.getByRole('link', { name: 'Show the first values' }).waitFor();
    const last = (await find(shop, 'limit=200')).values.at(-1)!.key;
    const next = await find(shop, `limit=200&after=${encodeURIComponent(last)}`);
    await page.getByText(next.values[0]!.key, { exact: true }).waitFor();
    await page.goBack();
    await shown(page, `200 of ${all.total} values shown`);

    await page.locator('main').getByRole('searchbox').fill('DNAT44 storefront');
    const dnat = await find(shop, 'search=dnat44+storefront');
    assert.ok(dnat.matches > 2 && dnat.matches < 50);
    await shown(page, `${dnat.matches} of ${dnat.matches} values shown`);
    assert.deepEqual(
      await keysBelow(page, 'found'),
      dnat.values.map(({ key }) => key),
    );
    assert.match(page.url(), /#\/values\?search=DNAT44\+storefront$/);
    await page.locator('main').getByRole('searchbox').fill('');
    await page.getByRole('combobox', { name: 'Descriptor' }).selectOption('vpp-route');
    await page.getByRole('combobox', { name: 'State' }).selectOption('CONFIGURED');
    const routes = await find(shop, 'descriptor=vpp-route&state=CONFIGURED');
    await shown(page, `of ${routes.matches} values shown`);
    assert.match(page.url(), /descriptor=vpp-route&state=CONFIGURED$/);
    await page.getByRole('combobox', { name: 'State' }).selectOption('problem');
    await shown(page, '0 of 0 values shown');
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('that wait or failed are shown first, and lead to what they wait for', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
    );
    await show('values');
    const [pendingKey, pending] = route('absent', '10.77.0.0/24');
    await node.cluster.put(pendingKey, pending);
    await node.cluster.put(
      `${STORE}${BAD}`,
      '{"name":"bad","type":"DPDK","phys_address":"02:00:00:00:00:01"}',
    );
    const first = page.locator('section[aria-labelledby=problems]');
    await first.getByText('2 values are not as desired').waitFor();
    const text = await first.innerText();
    assert.match(text, /INVALID[\s\S]*phys_address is invalid/);
    assert.match(text, /PENDING[\s\S]*waits for interface-exists/);
    await assertAccessible();

    const key = pendingKey.slice(STORE.length);
    await first.getByRole('link', { name: key }).click();
    await page.getByRole('heading', { level: 2, name: key }).waitFor();
    await page.getByText(`interface-exists: ${ABSENT} does not exist`).waitFor();
    assert.equal(await page.evaluate('document.activeElement.id'), 'value');
    assert.equal(await page.title(), `${key} – Configuration – node1 – contiv-vswitch`);
    await assertAccessible();
    const needs = page.getByRole('list', { name: 'Needs', exact: true });
    assert.match(await needs.innerText(), /NONEXISTENT[\s\S]*missing interface-exists/);

    await needs.getByRole('link', { name: ABSENT }).click();
    await page.getByRole('heading', { level: 2, name: ABSENT }).waitFor();
    await page.getByText('There is no value with this key.').waitFor();
    const needing = page.getByRole('list', { name: 'Needed by, and derived' });
    assert.match(await needing.innerText(), /PENDING[\s\S]*waits interface-exists/);
    await assertAccessible();
    await page.goBack();
    await page.getByRole('heading', { level: 2, name: key }).waitFor();
    await page.goBack();
    await first.getByText('2 values are not as desired').waitFor();

    await show(`values?key=${encodeURIComponent(BAD)}`);
    await page.getByText('Wrong fields: phys_address').waitFor();
    await page.getByRole('heading', { name: 'Rejected value' }).waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    for (const one of [pendingKey, `${STORE}${BAD}`]) await node.cluster.delete(one);
    await close();
  });

  it('show their fields, who needs them, and their history with what changed', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
    );
    const [stored, value] = neighbor('172.30.1.77', '02:00:00:00:00:77');
    const key = stored.slice(STORE.length);
    await node.cluster.put(stored, value);
    await show(`values?key=${encodeURIComponent(key)}`);
    await page.locator('.facts').getByText('CONFIGURED').waitFor();
    assert.match(
      await page.locator('.json').first().innerText(),
      /"phys_address": "02:00:00:00:00:77"/,
    );
    node.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name === 'ip_neighbor_add_del');
    await node.cluster.put(...neighbor('172.30.1.77', '02:00:00:00:00:78'));
    await page.locator('.facts').getByText('RETRYING').waitFor();
    await page.getByText(/Not retried yet; retry 1 of at most 3 is due in 59 min/).waitFor();
    await assertAccessible();
    node.vpp.faults.clear();
    await node.cluster.put(...neighbor('172.30.1.77', '02:00:00:00:00:79'));
    await page.locator('.facts').getByText('CONFIGURED').waitFor();
    const history = page.locator('table.history tbody tr');
    await history.filter({ hasText: '02:00:00:00:00:79' }).first().waitFor();
    const rows = await history.allInnerTexts();
    assert.match(rows.at(-1)!, /CONFIGURED\s+\d+\s+added/);
    assert.match(rows[0]!, /changed\s+changed phys_address/);
    assert.ok(rows.some((row) => row.includes('RETRYING')));
    const { body } = await shop.get(`/scheduler/key-timeline?key=${encodeURIComponent(key)}`);
    assert.equal(rows.length, (body as unknown[]).length);
    const transaction = history.first().getByRole('link');
    assert.match((await transaction.getAttribute('href')) ?? '', /^#\/transactions\?txn=\d+$/);
    await assertAccessible();
    await node.cluster.delete(stored);
    await page.getByText('There is no value with this key.').waitFor();
    await history.first().getByText('removed').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('are walked with the keyboard', async () => {
    const { page, problems, show, close } = await openPage(browser, shop.agent.port);
    await show(`values?search=tap&key=${encodeURIComponent(TAP)}`);
    const arp = `${CONFIG}/arp/tap-vpp2/172.30.1.2`;
    const neighborLink = page.getByRole('list', { name: 'Needed by, and derived' }).getByText(arp);
    await neighborLink.waitFor();
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    for (let i = 0; i < 60 && (await focused()) !== arp; i++) await page.keyboard.press('Tab');
    assert.equal(await focused(), arp);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: arp }).waitFor();
    assert.equal(await focused(), arp);
    await page.getByRole('list', { name: 'Needs', exact: true }).getByText(TAP).waitFor();
    await page.getByRole('link', { name: 'Found values' }).click();
    assert.equal(await page.locator('main').getByRole('searchbox').inputValue(), 'tap');
    assert.deepEqual(problems, []);
    await close();
  });

  it('say why they cannot be read', async () => {
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      shop.agent.port,
      { expected: /status of 503/ },
    );
    await page.route('**/scheduler/value*', (request) =>
      request.fulfill({ status: 503, body: '{"Error": "too many requests"}' }),
    );
    await show('values');
    await page.getByText('Cannot read values: too many requests').waitFor();
    await assertAccessible();
    await show(`values?key=${encodeURIComponent(TAP)}`);
    await page.getByText('Cannot read the value: too many requests').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });
});

describe('10,000 values', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  it('are searched without a long list and without a busy agent', async (context) => {
    const node = makeNode();
    const networks = Array.from(
      { length: 10_000 },
      (_, i) => `10.${100 + (i >> 8)}.${i & 255}.0/24`,
    );
    const entries = networks.map((network, i) => route(i % 100 ? 'tap-vpp2' : 'absent', network));
    await node.cluster.putAll(new Map(entries));
    const [browser, running] = await Promise.all([startBrowser(), startAgent(node)]);
    const { page, problems, show, assertAccessible, close } = await openPage(
      browser,
      running.agent.port,
    );
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    const { total } = await find(running, '');
    assert.ok(total > 10_000);
    const totalText = total.toLocaleString('en-US');
    await show('values?limit=200');
    await shown(page, `200 of ${totalText} values shown`);
    await page.getByText('100 values are not as desired').waitFor();
    const rows = () => page.locator('section[aria-labelledby=found] tbody tr').count();
    assert.equal(await rows(), 200);
    await page
      .locator('main')
      .getByRole('searchbox')
      .pressSequentially('10.105.7 tap', { delay: 20 });
    const found = await find(running, 'search=10.105.7+tap');
    await shown(page, `${found.matches} of ${found.matches} values shown`);
    assert.equal(await rows(), found.matches);
    await page.locator('main').getByRole('searchbox').fill('');
    await shown(page, `50 of ${totalText} values shown`);

    await show(`values?key=${encodeURIComponent(TAP)}`);
    const side = page.getByRole('list', { name: 'Needed by, and derived' });
    await side.getByRole('listitem').first().waitFor();
    assert.equal(await side.getByRole('listitem').count(), 12);
    await page.getByRole('button', { name: /and 9,\d{3} others/ }).click();
    assert.equal(await page.evaluate('document.activeElement.id'), 'needing');
    await page.getByText(/^50 of 9,\d{3} shown$/).waitFor();
    assert.ok((await page.locator('tbody tr').count()) <= 200);
    await assertAccessible();
    await show(`values?key=${encodeURIComponent(ABSENT)}`);
    assert.equal(await side.getByText('waits', { exact: true }).count(), 12);
    delays.disable();
    context.diagnostic(
      `longest delay of the event loop, with the browser's tests on it: ${(delays.max / 1e6).toFixed(1)} ms`,
    );
    assert.deepEqual(problems, []);
    await close();
    await browser.close();
    await running.stop();
  });
});
