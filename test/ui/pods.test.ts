/** The view of pods against an agent with the shop, whose simulated VPP counts traffic. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { PodDocument, PodList, PodSummary } from '#documents/pods.ts';
import { makeNode, type Node, type RunningAgent, until } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { eventually } from '#test/support/wait.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';
import { afterNextReading, growingTraffic, type Traffic } from './support/traffic.ts';

describe('pods', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let node: Node;
  let traffic: Traffic;
  let shop: RunningAgent;
  let pods: readonly PodSummary[] = [];
  before(async () => {
    browser = await startBrowser();
    node = makeNode();
    traffic = growingTraffic(node.vpp);
    const connectVpp = node.vpp.connect();
    const environment = { ...node, connectVpp, vppStatistics: traffic.statistics };
    shop = await startShop({ environment }, node);
    pods = (await document<PodList>('pods')).pods;
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  async function document<T>(path: string): Promise<T> {
    return (await shop.get(`/contiv/v1/${path}`)).body as T;
  }

  const open = () => openPage(browser, shop.agent.port);

  /** The row of a pod, by its cells. */
  const row = ({ page }: BrowserPage, pod: PodSummary) =>
    page.locator('table.pods tbody tr').filter({
      has: page.getByRole('link', { name: `${pod.namespace}/${pod.name}`, exact: true }),
    });

  const vppName = async (pod: PodSummary): Promise<string> => {
    const { interfaces } = await document<{ interfaces: { vppName: string }[] }>(
      `interfaces?pod=${pod.namespace}/${pod.name}`,
    );
    return interfaces[0]!.vppName;
  };

  it('lists the pods with their rates, in numbers and as a text of the chart', async () => {
    const [quiet, busy] = [pods[0]!, pods[1]!];
    await traffic.set({
      [await vppName(busy)]: { rxBytes: 150_000, txBytes: 1_500, drops: 3 },
    });
    const opened = await open();
    const { page, problems, show, assertAccessible, close } = opened;
    await page.clock.install();
    await show('pods');
    assert.equal(
      await page.getByRole('status').filter({ hasText: 'pods shown' }).innerText(),
      `${pods.length} of ${pods.length} pods shown`,
    );
    assert.deepEqual(
      await page.locator('table.pods tbody th').allInnerTexts(),
      pods.map(({ namespace, name }) => `${namespace}/${name}`),
    );
    const cells = await row(opened, quiet).locator('td').allInnerTexts();
    assert.equal(cells[0], quiet.addresses[0]);
    assert.ok(cells[1]!.startsWith(await vppName(quiet)), cells[1]);
    assert.equal(cells[2], 'CONFIGURED');
    assert.match(cells[3]!, /^\d+ (s|min) ago$/);
    assert.deepEqual(cells.slice(5), ['–', '–', '–']);

    await afterNextReading(page);
    // a late reading on a busy machine makes other rates; five seconds later there is another one
    await eventually(async () => {
      const rates = (await row(opened, busy).locator('td').allInnerTexts()).slice(5);
      assert.match(rates.join(' '), /^12 kbit\/s 1\.2 Mbit\/s (2\.\d|3(\.\d)?)\/s$/);
    });
    const label = await row(opened, busy).getByRole('img').getAttribute('aria-label');
    assert.match(label!, /^in 12 kbit\/s, out 1\.2 Mbit\/s, drops [23](\.\d)?\/s; highest/);
    assert.deepEqual((await row(opened, quiet).locator('td').allInnerTexts()).slice(5), [
      '0 bit/s',
      '0 bit/s',
      '0/s',
    ]);
    assert.equal(await row(opened, busy).locator('canvas').count(), 1);
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('searches on the server, and has the search in its address', async () => {
    const opened = await open();
    const { page, problems, show, assertAccessible, close } = opened;
    await show('pods');
    const [one] = pods as [PodSummary];
    await page.getByLabel('Search').focus();
    await page.keyboard.type(one.addresses[0]!);
    await page.getByText(/^\d+ of \d+ pods shown/).waitFor();
    const { matching } = await document<PodList>(`pods?search=${one.addresses[0]}`);
    await page.getByText(`${matching} of ${pods.length} pods shown`).waitFor();
    assert.equal(await row(opened, one).count(), 1);
    assert.ok(page.url().endsWith(`#/pods?search=${one.addresses[0]}`), page.url());
    // to the table, which is scrolled with the keyboard, and on to the pod
    await page.keyboard.press('Tab');
    assert.equal(
      await page.evaluate('document.activeElement.getAttribute("aria-label")'),
      'Table of pods',
    );
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: `${one.namespace}/${one.name}` }).waitFor();
    await show('pods?search=no-such-pod');
    await page.getByText(`0 of ${pods.length} pods shown`).waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('shows one pod: its policies, services and values', async () => {
    const documents = await Promise.all(
      pods.map(({ namespace, name }) => document<PodDocument>(`pods/${namespace}/${name}`)),
    );
    const pod = documents.find(
      ({ services, attachments }) =>
        services.length > 0 && attachments[0]!.policies!.ingress.length > 0,
    )!;
    const name = `${pod.namespace}/${pod.name}`;
    const { page, problems, show, assertAccessible, close } = await open();
    await show(`pods?pod=${name}`);
    const text = await page.innerText('main');
    const [attachment] = pod.attachments as [PodDocument['attachments'][number]];
    for (const part of [
      attachment.addresses[0]!,
      attachment.containerId,
      attachment.networkNamespace,
      attachment.interfaces!.vpp.name,
      `sw_if_index ${attachment.interfaces!.vpp.swIfIndex}`,
      `decided by ${attachment.policies!.ingress.join(', ')}`,
      `${attachment.values.total} of ${attachment.values.total} values`,
    ])
      assert.ok(text.includes(part), `${part} in ${text}`);
    const rows = (caption: RegExp) =>
      page.getByRole('table', { name: caption }).locator('tbody tr');
    const [first] = pod.services as [PodDocument['services'][number]];
    const shown = await rows(/Addresses of services/).allInnerTexts();
    assert.equal(shown.length, pod.services.length);
    assert.ok(
      shown.some(
        (line) =>
          line.includes(first.service) &&
          line.includes(`${first.address}:${first.port}`) &&
          line.includes(`${first.podAddress}:${first.targetPort}`),
      ),
    );
    assert.deepEqual(
      (
        await rows(/configured in VPP and Linux/)
          .locator('th')
          .allInnerTexts()
      ).sort(),
      attachment.valueStates.map(({ key }) => key).sort(),
    );
    const value = attachment.valueStates[0]!;
    assert.equal(
      await page.getByRole('link', { name: value.key, exact: true }).getAttribute('href'),
      `#/values?key=${encodeURIComponent(value.key)}`,
    );
    assert.equal(
      await page.getByRole('link', { name: 'What may the pod reach?' }).getAttribute('href'),
      `#/connectivity?from=${encodeURIComponent(name)}`,
    );
    await page.getByText('All counters').click();
    assert.equal(await rows(/Counters of VPP/).count(), 10);
    await page.locator('.chart canvas').first().waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('asks for a pod again soon after a request has failed', async () => {
    const [pod] = pods as [PodSummary];
    const { page, problems, show, close } = await openPage(browser, shop.agent.port, {
      expected: /status of 503/,
    });
    await page.clock.install();
    const refused = { status: 503, body: '{"Error": "too many requests"}' };
    await page.route('**/contiv/v1/pods/*/*', (request) => request.fulfill(refused));
    await show(`pods?pod=${pod.namespace}/${pod.name}`);
    await page.getByText('Cannot read the pod: too many requests').waitFor();
    await page.unroute('**/contiv/v1/pods/*/*');
    await page.clock.runFor(3_000);
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    assert.deepEqual(problems, []);
    await close();
  });

  it('draws its charts again in the colors of the other scheme', async () => {
    const [pod] = pods as [PodSummary];
    await traffic.set({ [await vppName(pod)]: { rxBytes: 15_000, txBytes: 1_500 } });
    const { page, problems, show, close } = await open();
    await page.clock.install();
    await show(`pods?pod=${pod.namespace}/${pod.name}`);
    await afterNextReading(page);
    await page.getByText(/Now: in 12 kbit/).waitFor();
    const drawn = () =>
      page.evaluate<string>(`document.querySelector('.chart canvas').toDataURL()`);
    const light = await drawn();
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(async () => (await drawn()) !== light);
    assert.deepEqual(problems, []);
    await close();
  });

  it('says that the counters are unknown while VPP is unavailable, and when they began again', async () => {
    const [pod] = pods as [PodSummary];
    const opened = await open();
    const { page, problems, show, assertAccessible, close } = opened;
    await page.clock.install();
    await show('pods');
    await afterNextReading(page);
    await row(opened, pod).getByText('bit/s').first().waitFor();
    const restarted = traffic.stop('VPP is not connected');
    await afterNextReading(page);
    await page.getByText('Rates are unknown: VPP is not connected').waitFor();
    assert.deepEqual((await row(opened, pod).locator('td').allInnerTexts()).slice(5), [
      '–',
      '–',
      '–',
    ]);
    await assertAccessible();
    restarted();
    await afterNextReading(page);
    await page.getByText('Rates are unknown').waitFor({ state: 'hidden' });
    // no rate of the size of what was counted before the restart, and none below zero
    assert.deepEqual((await row(opened, pod).locator('td').allInnerTexts()).slice(5), [
      '–',
      '–',
      '–',
    ]);
    assert.deepEqual(problems, []);
    await close();
  });
});
