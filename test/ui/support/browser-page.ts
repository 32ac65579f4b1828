/** The page of an agent in a real browser, which reports everything that must not happen there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { selectCases } from '#test/support/part-of-cases.ts';
import { findProgram } from '#test/support/requirements.ts';

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Until something is shown, on a machine with much other work. */
const LIMIT_MS = 15_000;

/** Without requests of the browser itself: the machine has no network. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// Scripts for the page, as text: the types of a browser are not those of this program.
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;
const SERIOUS_VIOLATIONS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map((one) => one.html).join(' ')),
);`;

export function startBrowser(): Promise<Browser> {
  const executablePath = findProgram('chromium');
  assert(executablePath, 'the suite is skipped without chromium');
  return chromium.launch({ executablePath, args: flags });
}

export interface BrowserPage {
  readonly page: Page;
  /** Faults of the page: errors of the console, violations of the policy, requests to anywhere else. */
  readonly problems: string[];
  /** Shows a view and waits until nothing is loading: `values?key=…`. */
  show(view: string): Promise<void>;
  /** Resolves when nothing is loading. */
  settled(): Promise<void>;
  /** Fails with what axe-core calls serious or critical, in the light and the dark scheme, in `npm test` in one of them. */
  assertAccessible(): Promise<void>;
  close(): Promise<void>;
}

export interface BrowserPageOptions {
  /** Replies with these statuses are expected: the browser writes them to its console. */
  readonly expected?: RegExp;
}

/** Opens the page in a window of its own, with the size of a laptop's. */
export async function openPage(
  browser: Browser,
  port: number,
  { expected }: BrowserPageOptions = {},
): Promise<BrowserPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
    locale: 'en-US',
    // Axe is put into the page; the policy of the page is watched by its own report below.
    bypassCSP: false,
  });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const origin = `http://127.0.0.1:${port}`;
  const problems: string[] = [];
  const add = (problem: string): void => {
    if (!expected?.test(problem)) problems.push(problem);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      add(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => add(`error: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:')) add(`request to ${url}`);
  });
  await page.addInitScript({ content: REPORT_VIOLATIONS });
  const settled = () =>
    page
      .getByText(/^Loading\b/)
      .first()
      .waitFor({ state: 'hidden' });
  return {
    page,
    problems,
    settled,
    async show(view) {
      await page.goto(`${origin}/ui/#/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled();
    },
    async assertAccessible() {
      for (const colorScheme of selectCases(['light', 'dark'] as const)) {
        await page.emulateMedia({ colorScheme });
        // Evaluated by the debugger, which the policy of the page does not concern.
        await page.evaluate(axe);
        const violations = await page.evaluate<string[]>(SERIOUS_VIOLATIONS);
        assert.deepEqual(violations, [], colorScheme);
      }
      await page.emulateMedia({ colorScheme: 'light' });
    },
    close: () => context.close(),
  };
}
