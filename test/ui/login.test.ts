/** The page where a login is needed, and below a path that a reverse proxy takes away. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { type AgentOptions, makeNode, startAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { proxyBelow } from './support/prefix-proxy.ts';

const users: AgentOptions = {
  http: {
    'enable-token-auth': true,
    'sign-key': 'k'.repeat(32),
    users: [
      { name: 'reader', password: 'r', password_hash: '', permissions: ['read', 'flows'] },
      { name: 'monitor', password: 'm', password_hash: '', permissions: ['telemetry'] },
    ],
  },
};
const refused = { expected: /status of 40[13]/ };

describe('page of an agent with logins', {
  skip: withoutProgram('chromium'),
  timeout: 120_000,
}, () => {
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser?.close());

  async function logIn({ page }: BrowserPage, name: string, password: string): Promise<void> {
    const opening = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Log in' }).click();
    const form = await opening;
    await form.getByLabel('Username').fill(name);
    await form.getByLabel('Password').fill(password);
    await form.getByRole('button', { name: 'Login' }).click();
    await form
      .getByRole('heading')
      .filter({ hasNotText: 'Login' })
      .or(form.locator('pre'))
      .first()
      .waitFor();
    await form.close();
  }

  /** As when the user comes back from another tab, which a browser without windows does not tell. */
  const comeBack = async ({ page }: BrowserPage): Promise<void> => {
    await page.evaluate(`for (const state of ['hidden', 'visible']) {
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
  };

  it('leads to the login, and continues after it', async () => {
    await using running = await startAgent(makeNode(), users);
    const opened = await openPage(browser, running.agent.port, refused);
    const { page, problems, show, assertAccessible, close } = opened;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await show('values?state=CONFIGURED');
    await page.locator('.connection', { hasText: 'You are not logged in.' }).waitFor();
    await page.getByText('not live', { exact: true }).waitFor();
    await page.getByText('Cannot read values: you are not logged in.').first().waitFor();
    await assertAccessible();
    const before = asked.length;
    await page.waitForTimeout(4_000);
    assert.equal(asked.length, before, 'it asks again only when the user comes back');
    await logIn(opened, 'reader', 'r');
    await comeBack(opened);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'CONFIGURED' }).first().waitFor();
    assert.equal(await page.locator('.connection').count(), 0);
    assert.deepEqual(problems, []);
    await close();
  });

  it('says that a user lacks the permission', async () => {
    await using running = await startAgent(makeNode(), users);
    const opened = await openPage(browser, running.agent.port, refused);
    const { page, problems, show, assertAccessible, close } = opened;
    await show('pods');
    await logIn(opened, 'monitor', 'm');
    await comeBack(opened);
    await page
      .locator('.connection', { hasText: 'Your user does not have the permission group “read”.' })
      .waitFor();
    await page.getByText('Cannot read pods: your user does not have').waitFor();
    await assertAccessible();
    assert.deepEqual(problems, []);
    await close();
  });

  it('lets the browser ask for user and password, also for the events', async () => {
    await using running = await startAgent(makeNode(), {
      http: { 'client-basic-auth': ['operator:secret'] },
    });
    const context = await browser.newContext({
      httpCredentials: { username: 'operator', password: 'secret' },
    });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${running.agent.port}/ui/#/events`);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Database Resync' }).first().waitFor();
    await context.close();
  });

  it('lets a user who has canceled enter the password later', async () => {
    await using running = await startAgent(makeNode());
    const opened = await openPage(browser, running.agent.port, refused);
    const { page, problems, show, assertAccessible, close } = opened;
    // A browser without windows waits for its user forever.
    await page.route(/[/](controller|contiv|scheduler)[/]/, (route) =>
      route.fulfill({ status: 401, headers: { 'WWW-Authenticate': 'Basic realm="contiv-agent"' } }),
    );
    await show('events');
    await page.getByRole('button', { name: 'Enter user and password' }).waitFor();
    await assertAccessible();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Enter user and password' }).click();
    await page.getByText('live', { exact: true }).waitFor();
    assert.deepEqual(problems, []);
    await close();
  });

  it('works below the path of a reverse proxy', async () => {
    await using running = await startAgent(makeNode(), users);
    await using proxy = await proxyBelow('/x/y', running.agent.port);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${proxy.port}/x/y/auth/login`);
    await page.getByLabel('Username').fill('reader');
    await page.getByLabel('Password').fill('r');
    await page.getByRole('button', { name: 'Login' }).click();
    await page.waitForURL(`http://127.0.0.1:${proxy.port}/x/y/`);
    await page.goto(`http://127.0.0.1:${proxy.port}/x/y/ui`);
    await page.getByText('live', { exact: true }).waitFor();
    const titles = await page.locator('nav a').allInnerTexts();
    for (const title of titles) {
      await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await page
        .getByText(/^Loading\b/)
        .first()
        .waitFor({ state: 'hidden' });
      assert.equal(await page.getByText('Cannot read').count(), 0, title);
    }
    assert.deepEqual(
      proxy.outside.filter((path) => path !== '/favicon.ico'),
      [],
    );
    await context.close();
  });
});
