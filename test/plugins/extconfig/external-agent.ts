/** An agent on simulated VPP and Linux that serves external configuration. */

import { parseConfig } from '#infra/config/load.ts';
import { grpc2Schema } from '#infra/grpc/config.ts';
import {
  type AgentOptions,
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
} from '#test/cmd/agent/harness.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { ExternalClient } from './grpc-client.ts';

/** With a port that the system selects. */
export const grpc2 = (text = '') =>
  parseConfig(grpc2Schema, `endpoint: 127.0.0.1:0\n${text}`, 'grpc2.conf').value;

export const makeExternalNode = (): Node => ({ ...makeNode(), external: new MemoryStore() });

export interface ExternalAgent extends AsyncDisposable {
  readonly running: RunningAgent;
  readonly client: ExternalClient;
  stop(): Promise<void>;
  /** State of a value in the scheduler; undefined: it has none. */
  stateOf(key: string): Promise<string | undefined>;
  /** Keys of the values in VPP and Linux that this source has put. */
  configured(keys: Iterable<string>): Promise<string[]>;
}

export async function startExternalAgent(
  node: Node = makeExternalNode(),
  options: AgentOptions = {},
): Promise<ExternalAgent> {
  const running = await startAgent(node, { grpc2: grpc2(), ...options });
  const client = new ExternalClient(running.agent.grpcPort!);
  const stop = async () => {
    client[Symbol.dispose]();
    await running.stop();
  };
  const stateOf = async (key: string) => {
    const { body } = await running.get(`/scheduler/status?key=${encodeURIComponent(key)}`);
    return (body as { value?: { state?: string } }).value?.state;
  };
  return {
    running,
    client,
    stop,
    stateOf,
    configured: async (keys) => {
      const found: string[] = [];
      for (const key of keys) if ((await stateOf(key)) === 'CONFIGURED') found.push(key);
      return found;
    },
    [Symbol.asyncDispose]: stop,
  };
}
