/** Transactions against an agent with the shop, a pod that failed, and thousands of values. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type RunningAgent, until } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPageOptions, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';
import { addUnluckyPod, UNLUCKY_ERROR } from './support/unlucky-pod.ts';

const ARPS = 10_000;
const ARP = 'config/vpp/v2/arp/missing/';

interface Operation {
  readonly Operation: string;
  readonly Key: string;
  readonly IsRevert?: boolean;
}

interface Transaction {
  readonly SeqNum: number;
  readonly Planned?: readonly Operation[];
  readonly Executed?: readonly Operation[];
}

/** First column of each row with an operation. */
async function keys(page: Page): Promise<string[]> {
  return await page.locator('.operations > tbody > tr > th a').allInnerTexts();
}

describe('transactions', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
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

  async function history(query = ''): Promise<readonly Transaction[]> {
    const { body } = await shop.get(`/scheduler/txn-history${query}`);
    return (Array.isArray(body) ? body : [body]) as readonly Transaction[];
  }

  it('lists the transactions of the scheduler, the newest first', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'transactions');
    const numbers = (await page.locator('.transactions tbody th').allInnerTexts()).map(Number);
    const expected = (await history()).map(({ SeqNum }) => SeqNum).reverse();
    assert.deepEqual(numbers, expected.slice(0, 100));
    const row = page.locator('.transactions tbody tr').filter({ hasText: 'default/unlucky' });
    assert.match(await row.innerText(), /1 failed/);
    assert.match(await row.innerText(), /not executed/);
    assert.match(await row.innerText(), /undone/);
    await assertAccessible();
    assert.deepEqual(problems, []);
  });

  it('filters by description, key and failure, in the address', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'transactions');
    await page.getByLabel('Failed only').check();
    await page.getByText('1 transaction, the newest first').waitFor();
    assert.equal(
      await page.locator('.transactions tbody th').innerText(),
      String(unlucky.transaction),
    );
    await page.getByLabel('Description').fill('basket');
    await page.getByText('No transaction that is still recorded matches').waitFor();
    await assertAccessible();
    await page.getByLabel('Failed only').uncheck();
    await page.locator('.transactions').getByText('Add Pod storefront/basket-store-0').waitFor();
    assert.match(page.url(), /#\/transactions\?text=basket$/);
    await page.getByLabel('Key of an operation').fill('no/such/key');
    await page.getByText('No transaction that is still recorded matches').waitFor();
    assert.deepEqual(problems, []);
  });

  it('shows the failure first, and leads to its operation', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'transactions');
    await page.getByRole('link', { name: String(unlucky.transaction), exact: true }).click();
    const failure = page.locator('.failures li');
    await failure.waitFor();
    assert.match(await failure.innerText(), UNLUCKY_ERROR);
    await failure.getByRole('link').click();
    const shown = page.locator('.operations tr.selected');
    await shown.waitFor();
    assert.match(await shown.innerText(), /CREATE\s+failed/);
    assert.match(await shown.innerText(), /FAILED[\s\S]*planned: CONFIGURED/);
    await page.locator('.diff').waitFor();
    const focused = await page.evaluate<string>('document.activeElement.innerText');
    assert.match(focused, /^Hide/);
    await assertAccessible();
    // the event of the transaction, and the value
    const event = page.getByRole('link', { name: 'Add Pod default/unlucky' });
    assert.equal(await event.getAttribute('href'), `#/events?event=${unlucky.event}`);
    assert.match(
      (await shown.getByRole('link').getAttribute('href')) ?? '',
      /^#\/values\?key=config%2Fvpp%2Fv2%2Finterfaces%2F/,
    );
    assert.deepEqual(problems, []);
  });

  it('shows what was planned beside what was done and undone', async (t) => {
    const [record] = await history(`?seq-num=${unlucky.transaction}`);
    assert.ok(record?.Planned && record.Executed);
    const undone = record.Executed.filter(({ IsRevert }) => IsRevert);
    const { page, problems } = await open(t, `transactions?txn=${unlucky.transaction}`);
    const plan = record.Planned.map(({ Key }) => Key);
    assert.deepEqual(await keys(page), [...plan, ...undone.map(({ Key }) => Key)]);
    assert.equal(
      await page.locator('.operations .badge', { hasText: 'undo' }).count(),
      undone.length,
    );
    const unexecuted = record.Planned.length - record.Executed.length + undone.length;
    const notExecuted = page.locator('.operations .badge', { hasText: 'not executed' });
    assert.equal(await notExecuted.count(), unexecuted);
    await page.getByLabel('Outcome').selectOption('Failed');
    await page.getByText('1 operation,').waitFor();
    await page.getByLabel('Outcome').selectOption('Not as planned');
    await page.getByText(`${unexecuted + undone.length + 1} operations`).waitFor();
    await page.getByRole('combobox', { name: /^Operation/ }).selectOption('DELETE');
    await page.getByText(`${undone.length} operations`).waitFor();
    assert.match(page.url(), /only=different&operation=DELETE$/);
    assert.deepEqual(problems, []);
  });

  it('shows the fields of a value that an operation has set', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'transactions?txn=0');
    const { body } = await shop.get(
      '/scheduler/transaction?seq-num=0&operation=CREATE&limit=1&values=true',
    );
    const [operation] = (
      body as { Operations: { Index: number; Key: string; NewValue: { ProtoMsgData: object } }[] }
    ).Operations;
    assert.ok(operation);
    await page.goto(page.url().replace(/#.*/, `#/transactions?txn=0&op=${operation.Index}`));
    const diff = page.locator('.diff');
    await diff.locator('tbody tr').first().waitFor();
    const [name = ''] = Object.keys(operation.NewValue.ProtoMsgData);
    assert.ok(
      (await diff.locator('tbody th').allInnerTexts()).some((path) => path.startsWith(name)),
    );
    for (const change of await diff.locator('tbody tr').all())
      assert.match(await change.innerText(), /\badded\b/);
    await assertAccessible();
    // by keyboard
    await page.keyboard.press('Enter');
    await diff.waitFor({ state: 'detached' });
    assert.deepEqual(problems, []);
  });

  it('says that a transaction is not recorded', async (t) => {
    const { page, problems, assertAccessible } = await open(t, 'transactions?txn=99999', {
      expected: /404/,
    });
    await page.getByText('transaction with such sequence number is not recorded').first().waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
  });

  it('stays usable with 10,000 operations, of which it reads 200', async (t) => {
    const entries = Array.from({ length: ARPS }, (_, n): [string, string] => {
      const ip = `10.77.${n >> 8}.${n & 255}`;
      const value = { interface: 'missing', ip_address: ip, phys_address: '02:00:00:00:00:01' };
      return [`/vnf-agent/node1/${ARP}${ip}`, JSON.stringify(value)];
    });
    await shop.node.cluster.putAll(new Map(entries));
    const newest = async () => {
      const { body } = await shop.get('/scheduler/transactions?last=1');
      return (body as { Transactions: { SeqNum: number; Executed: number }[] }).Transactions[0];
    };
    await until(async () => (await newest())?.Executed === ARPS);
    const opened = await open(t, `transactions?txn=${(await newest())?.SeqNum}`);
    const { page, problems } = opened;
    let longest = 0;
    page.on('response', async (response) => {
      longest = Math.max(longest, (await response.body().catch(() => Buffer.alloc(0))).length);
    });
    await page.getByText(`1 to 200 of 10,000 operations`).waitFor();
    assert.equal((await keys(page)).length, 200);
    await page.getByRole('button', { name: 'Next 200' }).click();
    await page.getByText(`201 to 400 of 10,000 operations`).waitFor();
    await page.getByRole('button', { name: 'Previous 200' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText(`1 to 200 of 10,000 operations`).waitFor();
    const previous = page.getByRole('button', { name: 'Previous 200' });
    assert.equal(await previous.getAttribute('aria-disabled'), 'true');
    assert.notEqual(await page.evaluate('document.activeElement.tagName'), 'BODY');
    await page.getByLabel('Key', { exact: true }).fill('10.77.39.15');
    await page.getByText('1 operation,').waitFor();
    assert.deepEqual(await keys(page), [`${ARP}10.77.39.15`]);
    assert.ok(longest < 200_000, `${longest} bytes in one document`);
    assert.deepEqual(problems, []);
  });
});
