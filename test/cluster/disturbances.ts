/** A disturbance under the load as a case: which requests may be lost, and how many were. */
import { whenReady } from './cluster.ts';
import type { Load, Requests } from './load.ts';
import { durationText } from './percentiles.ts';
import type { CaseResult } from './results.ts';
import type { ClusterSettings } from './settings.ts';
import type { SuiteRun } from './suite.ts';

/** After everything is Ready again, until requests must not be lost. */
const SETTLE_MS = 10_000;
/** How long requests are counted after that. */
const COUNTED_MS = 10_000;
/** As in test/integration/vpp/upgrade.test.ts. */
const ATTEMPTS = 3;

export interface Disturbance {
  readonly name: string;
  /** Whether pods keep their network meanwhile. */
  readonly forwards: boolean;
  /** Beginning of each attempt, in which requests are not counted. */
  prepare?(settings: ClusterSettings): Promise<void>;
  /** Resolves when what it has ended is ready again. */
  run(load: Load, settings: ClusterSettings): Promise<void>;
}

/** One after the other; a failed one does not end the suite. */
export async function runDisturbances(
  disturbances: readonly Disturbance[],
  load: Load,
  settings: ClusterSettings,
): Promise<SuiteRun> {
  const cases: CaseResult[] = [];
  const measures = [`nothing, for comparison: ${await quietText(load)}`];
  for (const disturbance of disturbances) {
    const start = performance.now();
    const { name } = disturbance;
    const seconds = (): number => Math.round((performance.now() - start) / 1000);
    try {
      const { isPassed, texts } = await disturbRepeatedly(disturbance, load, settings);
      const message = texts.join('; then ');
      measures.push(`${name}: ${message}`);
      const outcome = isPassed ? 'passed' : 'failed';
      cases.push({ name, outcome, message: isPassed ? '' : message, seconds: seconds() });
    } catch (thrown) {
      cases.push({ name, outcome: 'failed', message: String(thrown), seconds: seconds() });
    }
  }
  return { cases, measures };
}

async function quietText(load: Load): Promise<string> {
  const start = Date.now();
  return lossText(await load.requests(start, start + COUNTED_MS), start);
}

/** Until no request is lost: on a busy machine requests are lost while nothing ends. */
async function disturbRepeatedly(
  disturbance: Disturbance,
  load: Load,
  settings: ClusterSettings,
): Promise<{ readonly isPassed: boolean; readonly texts: readonly string[] }> {
  const texts: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { isPassed, text } = await disturb(disturbance, load, settings);
    texts.push(text);
    if (isPassed) return { isPassed, texts };
  }
  return { isPassed: false, texts };
}

async function disturb(
  { forwards, prepare, run }: Disturbance,
  load: Load,
  settings: ClusterSettings,
): Promise<{ readonly isPassed: boolean; readonly text: string }> {
  await prepare?.(settings);
  const start = Date.now();
  await run(load, settings);
  await whenReady(settings);
  const ready = Date.now();
  const requests = await load.requests(start, ready + SETTLE_MS + COUNTED_MS);
  const checked = forwards ? start : ready + SETTLE_MS;
  const isPassed = requests.all > 0 && requests.lost.every((time) => time < checked);
  const text = `${lossText(requests, start)}; ready again after ${durationText(ready - start)}`;
  return { isPassed, text };
}

/** `3 of 250 requests lost, from 200 ms to 1.40 s after it`. */
function lossText({ all, lost }: Requests, start: number): string {
  const counted = `${lost.length} of ${all} requests lost`;
  if (lost.length === 0) return counted;
  const [first, last] = [Math.min(...lost), Math.max(...lost)];
  return `${counted}, from ${durationText(first - start)} to ${durationText(last - start)} after it`;
}
