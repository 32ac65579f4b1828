/** A hidden page requests nothing, and continues where it was. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { openPage, startBrowser } from './support/browser-page.ts';

/** Longer than the page waits between any two requests. */
const QUIET_MS = 6_000;

const become = (state: 'hidden' | 'visible') => `
  Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));`;

describe('hidden page', { skip: withoutProgram('chromium'), timeout: 90_000 }, () => {
  let browser: Browser;
  let running: RunningAgent;
  before(async () => {
    browser = await startBrowser();
    running = await startAgent(makeNode());
  });
  after(async () => {
    await browser?.close();
    await running?.stop();
  });

  it('closes its stream, requests nothing, and has every event once when it is shown', async () => {
    const { agent } = running;
    const { page, problems, show, close } = await openPage(browser, agent.port);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const heal = async () => {
      const { eventCount } = agent.controller;
      agent.controller.scheduleHealing('test', 0);
      await until(() => agent.controller.isIdle && agent.controller.eventCount > eventCount);
    };
    const numbers = async () =>
      (await page.locator('.event-list tbody td:first-child').allInnerTexts()).map(Number);
    const newest = () => agent.controller.history.records.at(-1)!.seqNum;
    const shows = (seqNum: number) => page.locator(`[data-event="${seqNum}"]`).waitFor();
    const closed = page.waitForEvent('requestfailed', (request) =>
      request.url().includes('/controller/events'),
    );
    await show('');
    await show('events');
    await shows(newest());
    requests.length = 0;
    await page.evaluate(become('hidden'));
    await closed;
    for (let n = 0; n < 3; n++) await heal();
    await page.waitForTimeout(QUIET_MS);
    assert.deepEqual(requests, []);
    await page.evaluate(become('visible'));
    await shows(newest());
    const all = Array.from({ length: newest() + 1 }, (_, at) => newest() - at);
    assert.deepEqual(
      (await numbers()).toSorted((a, b) => b - a),
      all,
    );
    assert.equal(requests.filter((url) => /controller\/events\?after=/.test(url)).length, 1);
    // Hidden and shown at once: there is one stream, not two.
    for (let n = 0; n < 5; n++) await page.evaluate(become('hidden') + become('visible'));
    await heal();
    await shows(newest());
    assert.equal(new Set(await numbers()).size, (await numbers()).length);
    assert.deepEqual(problems, []);
    await close();
  });
});
