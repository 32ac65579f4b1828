/** Throughput of one stream of TCP between two pods, measured by iperf3. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasuredNode } from './measured-node.ts';

const SECONDS = 4;
const ATTEMPTS = 20;

interface Report {
  readonly end?: { readonly sum_received?: { readonly bits_per_second: number } };
}

/** @returns bits a second at the receiver */
export async function tcpThroughput({ pod, otherPod, ends }: MeasuredNode): Promise<number> {
  await otherPod.run('iperf3', '--server', '--one-off', '--daemon');
  const command = ['iperf3', '--json', '--time', `${SECONDS}`, '--client', ends.otherPod];
  let reason = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // the server may not listen yet
    reason = await pod.run(...command).catch((failure: { stdout: string }) => failure.stdout);
    const rate = (JSON.parse(reason || '{}') as Report).end?.sum_received?.bits_per_second;
    if (rate !== undefined) return rate;
    await sleep(200);
  }
  throw new Error(`iperf3: ${reason}`);
}
