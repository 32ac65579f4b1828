/** Agent and VPP of a node: their processes, and what the agent says of itself. */
import type { ProcessedEvent } from '#documents/events.ts';
import { until } from '#test/support/wait.ts';
import { runInNode } from './node.ts';

const REST = 'http://127.0.0.1:9999';
const READY_LIMIT_MS = 180_000;

const patterns = {
  agent: ['-f', '^[^ ]*node .*dist/cmd/agent/main.js'],
  vpp: ['-x', 'vpp_main'],
};

export type VswitchProcess = keyof typeof patterns;

/** Its id in the process namespace of the node; undefined when it has ended. */
export function vswitchPid(node: number, name: VswitchProcess): string | undefined {
  try {
    return runInNode(node, 'pgrep', '-o', ...patterns[name]).trim();
  } catch {
    return undefined;
  }
}

/** Ends it. Resolves when its successor runs, and the agent is ready. */
export async function restartProcess(
  node: number,
  name: VswitchProcess,
  signal: 'TERM' | 'KILL',
): Promise<void> {
  const before = vswitchPid(node, name);
  if (before === undefined) throw new Error(`no process ${name} on node ${node}`);
  runInNode(node, 'kill', `-${signal}`, before);
  await untilReady(node, () => {
    const pid = vswitchPid(node, name);
    return pid !== undefined && pid !== before;
  });
}

/** @param condition of which it is not asked whether it is ready before */
export async function untilReady(node: number, condition = (): boolean => true): Promise<void> {
  await until(
    `the agent of node ${node} is ready`,
    () => condition() && isReady(node),
    READY_LIMIT_MS,
    200,
  );
}

function isReady(node: number): boolean {
  try {
    runInNode(node, 'curl', '-sf', '-m', '5', '-o', '/dev/null', `${REST}/readiness`);
    return true;
  } catch {
    return false;
  }
}

/** Events that the agent has processed since a time in milliseconds, without their transactions. */
export function eventsSince(node: number, since: number): ProcessedEvent[] {
  const url = `${REST}/controller/event-history?since=${since}&txn=false`;
  return JSON.parse(runInNode(node, 'curl', '-sf', '-m', '30', url));
}
