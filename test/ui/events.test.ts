/** The timeline of events against an agent with the shop and a pod that failed. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { DATASTORE_SOURCE, ExternalConfigChange } from '#plugins/controller/api/events.ts';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPageOptions, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';
import { addUnluckyPod, UNLUCKY_ERROR } from './support/unlucky-pod.ts';

/** Start and bar of each phase. */
const TIMING_BARS = `[...document.querySelectorAll('.timing tbody tr')].map((row) => {
  const { x, width } = row.querySelector('rect');
  const start = row.querySelector('td').innerText;
  return { start, x: x.baseVal.value, width: width.baseVal.value };
})`;

/** Numbers of the events in the list, from the top. */
async function listed(page: Page): Promise<number[]> {
  const texts = await page.locator('.event-list tbody td:first-child').allInnerTexts();
  return texts.map(Number);
}

function row(page: Page, seqNum: number) {
  return page
    .locator('.event-list tbody tr')
    .filter({ has: page.locator(`[data-event="${seqNum}"]`) });
}

describe('events', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let shop: RunningAgent;
  let unlucky: { readonly event: number; readonly transaction: number };
  before(async () => {
    [browser, shop] = await Promise.all([startBrowser(), startShop()]);
    unlucky = await addUnluckyPod(shop);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  async function open(t: TestContext, view: string, options: BrowserPageOptions = {}) {
    const opened = await openPage(browser, shop.agent.port, options);
    t.after(() => opened.close());
    await opened.show(view);
    return opened;
  }

  const push = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        shop.agent.controller.pushAndWait(
          ExternalConfigChange.event({ source: DATASTORE_SOURCE, values: {} }),
        ),
      ),
    );

  it('lists the events of the agent, the newest first, with their follow-ups below them', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'events');
    await row(page, unlucky.event).waitFor();
    const { records } = shop.agent.controller.history;
    const inOrder = records
      .filter(({ followUpTo }) => followUpTo === undefined)
      .toReversed()
      .flatMap((one) => [one, ...records.filter(({ followUpTo }) => followUpTo === one.seqNum)]);
    assert.equal(inOrder.length, records.length);
    assert.deepEqual(
      await listed(page),
      inOrder.map(({ seqNum }) => seqNum),
    );
    const text = await row(page, unlucky.event).innerText();
    assert.match(text, /Add Pod default\/unlucky/);
    assert.match(text, /failed, undone/);
    assert.match(text, UNLUCKY_ERROR);
    const change = records.find(({ trace }) => trace.origin?.key?.includes('k8s/service/'));
    if (change) assert.match(await row(page, change.seqNum).innerText(), /\bk8s\/service\//);
    await assertAccessible();
    assert.deepEqual(problems, []);
  });

  it('filters by kind, handler, failure and text, and keeps the filter in the address', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'events');
    const { records } = shop.agent.controller.history;
    const numbers = (selects: (record: (typeof records)[number]) => boolean) =>
      records
        .filter(selects)
        .map(({ seqNum }) => seqNum)
        .reverse();
    const pods = numbers(({ id }) => id === 'add-pod');
    await page.getByLabel('Kind').selectOption('Add Pod');
    await page.getByText(`${pods.length} of ${records.length} events match`).waitFor();
    assert.deepEqual(await listed(page), pods);
    await page.getByLabel('Text or key').fill('STOREFRONT/');
    const some = numbers(
      (record) =>
        record.id === 'add-pod' && JSON.stringify(record).toLowerCase().includes('storefront/'),
    );
    await page.getByText(`${some.length} of ${records.length} events match`).waitFor();
    assert.deepEqual(await listed(page), some);
    assert.match(page.url(), /#\/events\?kind=Add\+Pod&text=STOREFRONT%2F$/);

    // a colleague opens the link
    const other = await open(t, 'events?handler=ipam&failed=true');
    await row(other.page, unlucky.event).waitFor();
    assert.deepEqual(await listed(other.page), [unlucky.event]);
    assert.equal(await other.page.getByLabel('Handler').inputValue(), 'ipam');
    await other.page.getByLabel('Text or key').fill('no such text');
    await other.page.getByText(`0 of ${records.length} events match`).waitFor();
    await assertAccessible();
    await other.assertAccessible();
    assert.deepEqual([...problems, ...other.problems], []);
  });

  it('opens an event by keyboard, moves to the next one, and closes it', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'events');
    await row(page, unlucky.event).getByRole('link').focus();
    await page.keyboard.press('Enter');
    const panel = page.locator('.event-panel');
    await panel.getByRole('heading', { name: `#${unlucky.event} Add Pod` }).waitFor();
    await page.keyboard.press('ArrowDown');
    const [first = 0, second = 0] = (await listed(page)).slice(
      (await listed(page)).indexOf(unlucky.event),
    );
    assert.equal(first, unlucky.event);
    await panel.getByRole('heading', { name: `#${second} ` }).waitFor();
    assert.match(page.url(), new RegExp(`event=${second}$`));
    await page.keyboard.press('ArrowUp');
    await panel.getByRole('heading', { name: `#${unlucky.event} ` }).waitFor();
    await assertAccessible();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    assert.match(page.url(), /#\/events$/);
    const focused = await page.evaluate<string>('document.activeElement.dataset.event');
    assert.equal(focused, String(unlucky.event));
    assert.deepEqual(problems, []);
  });

  it('shows cause, times, handlers and the failed values of an event', async (t) => {
    const { page, problems } = await open(t, `events?event=${unlucky.event}`);
    const panel = page.locator('.event-panel');
    await panel.getByText('1 failed').waitFor();
    const record = shop.agent.controller.history.bySeqNum(unlucky.event);
    assert.ok(record?.trace.commitStartMs !== undefined);
    const text = await panel.innerText();
    assert.match(text, /CNI container\s+f0f0/);
    const names = await panel.locator('.timing tbody th').allInnerTexts();
    const handlers = record.handlers.map(({ handler, revert }) =>
      revert ? `${handler} (revert)` : handler,
    );
    assert.deepEqual(
      names.filter((name) => handlers.includes(name)),
      handlers,
    );
    for (const name of ['transaction: planning', 'transaction: execution', 'other'])
      assert.ok(names.includes(name), `${name} in ${names}`);
    // the bars are where the numbers say
    const bars = await page.evaluate<{ start: string; x: number; width: number }[]>(TIMING_BARS);
    // they are rounded to milliseconds
    const tolerance = Math.max(25, 2 + 500 / record.trace.totalMs);
    for (const { start, x, width } of bars.filter((bar) => bar.start.endsWith(' ms'))) {
      const expected = (Number.parseFloat(start) / record.trace.totalMs) * 1_000;
      assert.ok(Math.abs(x - expected) < tolerance, `${start}: ${x} instead of ${expected}`);
      assert.ok(x + width <= 1_000.5, `${start}: ${x} + ${width}`);
    }
    assert.equal(bars.length, names.length);
    const transaction = panel.getByRole('link', { name: `Transaction #${unlucky.transaction}` });
    assert.equal(
      await transaction.getAttribute('href'),
      `#/transactions?txn=${unlucky.transaction}`,
    );
    const value = panel.locator('.failures a');
    assert.match((await value.getAttribute('href')) ?? '', /^#\/values\?key=config%2Fvpp%2Fv2%2F/);
    assert.match(await panel.locator('.failures .error').innerText(), UNLUCKY_ERROR);
    assert.deepEqual(problems, []);
  });

  it('keeps its rows while it is paused, and counts what is new', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'events');
    await row(page, unlucky.event).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const before = await listed(page);
    await push(3);
    await page.getByText('paused, 3 new').waitFor();
    assert.deepEqual(await listed(page), before);
    await assertAccessible();
    await page.getByRole('button', { name: 'Continue' }).click();
    const last = shop.agent.controller.history.nextSeqNum - 1;
    await row(page, last).waitFor();
    assert.deepEqual((await listed(page)).slice(0, 3), [last, last - 1, last - 2]);
    // an open event stays where it is, too
    await row(page, last).getByRole('link').click();
    await push(2);
    await page.getByText('paused, 2 new').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await row(page, last + 2).waitFor();
    assert.deepEqual(problems, []);
  });

  it('says that an event is not recorded', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'events?event=99999', {
      expected: /404/,
    });
    await page.getByText('event with such sequence number is not recorded').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
  });

  it('shows a follow-up below its cause', async (t) => {
    const controller = { enableVerification: true };
    await using verified = await startAgent(makeNode(), { controller });
    const { page, show, close } = await openPage(browser, verified.agent.port);
    t.after(close);
    await show('events');
    await row(page, 1).getByText('follow-up of #0').waitFor();
    const numbers = await listed(page);
    assert.equal(numbers.indexOf(1), numbers.indexOf(0) + 1);
    await row(page, 1).getByRole('link').click();
    const panel = page.locator('.event-panel');
    await panel.getByRole('link', { name: '#0' }).click();
    await panel.getByRole('link', { name: '#1 Verification Resync' }).waitFor();
  });

  it('never shows more than 200 rows', async (t) => {
    await push(250);
    const { page } = await open(t, 'events');
    await push(1);
    await page.getByText(/^\d+ events, the newest 200 shown/).waitFor();
    assert.equal((await listed(page)).length, 200);
    // the page does not know the first event any more, and asks for it
    await page.goto(page.url().replace(/#.*/, '#/events?event=0'));
    await page.getByRole('heading', { name: '#0 Database Resync' }).waitFor();
  });
});
