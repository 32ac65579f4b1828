/** Continuous pings between pods, to count the packets that are lost meanwhile. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { enter } from './netns.ts';
import type { Sandbox } from './sandbox.ts';

/** Pings from one pod to another, 100 a second. */
class Pings {
  readonly #child: ChildProcess;
  #output = '';

  constructor(from: Sandbox, to: Sandbox) {
    const command = [...enter(from.path), 'ping', '-n', '-i', '0.01', to.address];
    this.#child = spawn('nice', ['-n', '-10', ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child.stdout!.on('data', (data) => {
      this.#output += data;
    });
  }

  /** A packet that was sent after the last reply may still be on its way: it does not count. */
  async stop(): Promise<{ readonly sent: number; readonly lost: number }> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGINT');
    await closed;
    const replies = [...this.#output.matchAll(/icmp_seq=(\d+) ttl=/g)].map(([, seq]) =>
      Number(seq),
    );
    const sent = Math.max(0, ...replies);
    assert.ok(sent > 0, this.#output);
    return { sent, lost: sent - new Set(replies).size };
  }
}

/** Runs the action while the pods ping each other in a ring. @returns the number of lost packets */
export async function underTraffic(
  t: TestContext,
  pods: readonly Sandbox[],
  action: () => Promise<void>,
): Promise<number> {
  const streams = pods.map((pod, at) => new Pings(pod, pods[(at + 1) % pods.length]!));
  const stopAll = () => Promise.all(streams.map((each) => each.stop()));
  await sleep(500);
  try {
    await action();
    await sleep(1000);
  } catch (error) {
    await stopAll();
    throw error;
  }
  const results = await stopAll();
  const lost = results.reduce((sum, each) => sum + each.lost, 0);
  t.diagnostic(`${lost} of ${results.reduce((sum, each) => sum + each.sent, 0)} packets lost`);
  return lost;
}
