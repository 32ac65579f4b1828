/**
 * The page in Chromium: bytes and time to the first view with a slow CPU, what ten pages cost an agent with
 * 10,000 values and 100 events a second, and its memory after an hour of events.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { withoutProgram } from '#test/support/requirements.ts';
import { openPage, startBrowser } from '#test/ui/support/browser-page.ts';
import { startShop } from '#test/ui/support/shop.ts';
import { buildPage } from '../scripts/lib/page.ts';
import { firstView } from './lib/page/first-view.ts';
import type {
  CostReport,
  LoadCommand,
  LoadedAgentReady,
  StretchReport,
} from './lib/page/loaded-agent.ts';
import { lowerPriorityOfChildren } from './lib/page/low-priority.ts';
import { memoryOfHour } from './lib/page/memory-of-hour.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME = 'ui: the web page';

const ROUNDS = 5;
/** Times slower than this machine: a laptop on battery. */
const SLOWDOWN = 4;
const PAGES = 10;
const LOAD_MS = 20_000;
/** One page of each, and the overview where no other is left. */
const VIEWS = [
  '',
  'events',
  'transactions',
  'values',
  'pods',
  'nodes',
  'connectivity',
  '',
  'events',
  'values',
];

export async function run(print: Print): Promise<void> {
  const missing = withoutProgram('chromium');
  if (missing) {
    print(`not measured: ${missing}`);
    return;
  }
  await sizes(print);
  const browser = await startBrowser();
  try {
    await times(browser, print);
    await load(browser, print);
    print(await memoryOfHour(browser));
  } finally {
    await browser.close();
  }
}

async function sizes(print: Print): Promise<void> {
  const files = await buildPage();
  const sum = (pick: (file: (typeof files)[number]) => number) =>
    (files.reduce((total, file) => total + pick(file), 0) / 1_000).toFixed(1);
  print(
    `all ${files.length} files: ${sum(({ bytes }) => bytes)} kB, with gzip ${sum(({ gzipBytes }) => gzipBytes)} kB`,
  );
}

/** The reference is a page of the same agent without scripts: the list of its routes. */
async function times(browser: Browser, print: Print): Promise<void> {
  const shop = await startShop();
  const median = (all: readonly number[]) => all.toSorted((a, b) => a - b)[all.length >> 1]!;
  try {
    const views: Awaited<ReturnType<typeof firstView>>[] = [];
    const references: typeof views = [];
    for (let round = 0; round < ROUNDS; round++) {
      references.push(
        await firstView(browser, `http://127.0.0.1:${shop.agent.port}/`, 'Index:', SLOWDOWN),
      );
      views.push(
        await firstView(
          browser,
          `http://127.0.0.1:${shop.agent.port}/ui/`,
          'All components work',
          SLOWDOWN,
        ),
      );
    }
    const ms = median(views.map((one) => one.ms));
    const referenceMs = median(references.map((one) => one.ms));
    const kB = (median(views.map(({ bytes }) => bytes)) / 1_000).toFixed(1);
    print(
      `first view, CPU ${SLOWDOWN} times slower: ${ms.toFixed(0)} ms and ${kB} kB received; ` +
        `a page without scripts ${referenceMs.toFixed(0)} ms; ratio ${(ms / referenceMs).toFixed(1)}`,
    );
  } finally {
    await shop.stop();
  }
}

async function load(browser: Browser, print: Print): Promise<void> {
  const agent = fork(join(import.meta.dirname, 'lib/page/loaded-agent.ts'));
  try {
    const [{ port }] = (await once(agent, 'message')) as [LoadedAgentReady];
    const observe = async <Report>(what: LoadCommand): Promise<Report> => {
      agent.send(what);
      await sleep(LOAD_MS);
      agent.send('stop' satisfies LoadCommand);
      const [report] = (await once(agent, 'message')) as [Report];
      return report;
    };
    const both = async (): Promise<Load> => ({
      ...(await observe<CostReport>('cost')),
      ...(await observe<StretchReport>('stretches')),
    });
    await observe('cost');
    const alone = await both();
    const pages = await Promise.all(Array.from({ length: PAGES }, () => openPage(browser, port)));
    for (const [at, page] of pages.entries()) await page.show(VIEWS[at]!);
    lowerPriorityOfChildren();
    const watched = await both();
    print(`100 events a second, 10,000 values, no page: ${loadText(alone)}`);
    print(
      `the same with ${PAGES} pages: ${loadText(watched)}; ratio of the CPU ${(watched.cpuShare / alone.cpuShare).toFixed(2)}`,
    );
    for (const page of pages) await page.close();
  } finally {
    agent.disconnect();
    await once(agent, 'exit');
  }
}

type Load = CostReport & StretchReport;

function loadText({ events, cpuShare, longest, longestOwn }: Load): string {
  return (
    `${events.toFixed(0)} events/s, ${(cpuShare * 100).toFixed(0)} % of a CPU, longest stretch ` +
    `${longest.toFixed(1)} ms, ${longestOwn.toFixed(1)} ms without garbage collection`
  );
}
