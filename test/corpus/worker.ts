/** Runs scenarios by name in a thread of its own: the test runner follows every promise of its own. */
import { parentPort } from 'node:worker_threads';
import { Recording } from './recording.ts';
import { scenarios } from './scenarios.ts';

export type Recorded =
  | { readonly expectation: string; readonly fullText: string }
  | { readonly failure: string };

async function recorded(name: string): Promise<Recorded> {
  try {
    const recording = new Recording();
    await scenarios.find((one) => one.name === name)?.run(recording);
    return { expectation: recording.expectation(), fullText: recording.fullText() };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', async (name: string) => {
  parentPort?.postMessage(await recorded(name));
});
