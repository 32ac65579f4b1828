/** The services of a command. */
import type { Clock } from '#infra/clock/clock.ts';
import {
  type ClusterNode,
  type CommandContext,
  ExitCode,
  type NodeReply,
  type Output,
} from './command.ts';
import type { NodeDirectory } from './nodes/node-directory.ts';
import { eventsOf } from './requests/event-stream.ts';
import type { NodeClient } from './requests/node-client.ts';
import { RequestError } from './requests/request-failure.ts';

/** An agent sends something every ten seconds: one that is suspended or cut off does not. */
const STREAM_SILENCE_MS = 35_000;
/** Nodes that are asked at once. */
const MAX_AT_ONCE = 32;

export interface ContextDeps {
  readonly directory: NodeDirectory;
  readonly client: NodeClient;
  readonly etcd: CommandContext['etcd'];
  readonly machine: Pick<CommandContext, 'confirm' | 'runAgent' | 'localSocket'>;
  readonly output: Output;
  readonly progress: (text: string) => void;
  /** Prints a line on the standard error, with control characters escaped. */
  readonly warn: (text: string) => void;
  readonly clock: Clock;
  readonly build: CommandContext['build'];
  readonly signal: AbortSignal;
}

export function createContext(deps: ContextDeps): CommandContext {
  const { directory, client, etcd, machine, output, progress, warn, clock, build, signal } = deps;
  return {
    nodes: (selectors) => directory.nodes(selectors),
    pods: () => directory.pods(),
    kubernetes: () => directory.kubernetes(),
    ask: (node, path, schema, repliesWith) =>
      client.json(node, { method: 'GET', path, repliesWith }, schema),
    askText: (node, path) => client.text(node, { method: 'GET', path, accept: 'text/plain' }),
    post: (node, path, body, schema) =>
      client.json(node, { method: 'POST', path, body: JSON.stringify(body) }, schema),
    events: (node, path) =>
      eventsOf(
        client.read(node, {
          method: 'GET',
          path,
          accept: 'text/event-stream',
          silenceMs: STREAM_SILENCE_MS,
        }),
      ),
    download: (node, path) => client.read(node, { method: 'GET', path, accept: '*/*' }),
    etcd,
    ...machine,
    askAll: (nodes, task) => askAll(nodes, task, progress, signal),
    explainFailures: (replies) => explainFailures(replies, warn),
    output,
    progress,
    warn,
    clock,
    build,
    signal,
  };
}

async function askAll<T>(
  nodes: readonly ClusterNode[],
  task: (node: ClusterNode) => Promise<T>,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly NodeReply<T>[]> {
  const replies: NodeReply<T>[] = [];
  const waiting = new Set(nodes);
  const show = (): void => {
    const names = [...waiting].slice(0, 3).map(({ name }) => name);
    const more = waiting.size > names.length ? ` and ${waiting.size - names.length} more` : '';
    const answered = nodes.length - waiting.size;
    progress(
      waiting.size === 0
        ? ''
        : `${answered} of ${nodes.length} nodes answered; waiting for ${names.join(', ')}${more}`,
    );
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < nodes.length) {
      signal.throwIfAborted();
      const place = next++;
      const node = nodes[place]!;
      replies[place] = await replyOf(node, task);
      waiting.delete(node);
      show();
    }
  };
  show();
  try {
    await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, nodes.length) }, worker));
  } finally {
    progress('');
  }
  return replies;
}

async function replyOf<T>(
  node: ClusterNode,
  task: (node: ClusterNode) => Promise<T>,
): Promise<NodeReply<T>> {
  try {
    return { node, value: await task(node) };
  } catch (thrown) {
    if (thrown instanceof RequestError) return { node, failure: thrown.failure };
    throw thrown;
  }
}

function explainFailures(
  replies: readonly NodeReply<unknown>[],
  warn: (text: string) => void,
): ExitCode {
  const failed = replies.filter(({ failure }) => failure !== undefined);
  const texts = Map.groupBy(failed, ({ failure }) => failure!.text);
  const byRemedy = Map.groupBy(texts, ([, its]) => its[0]!.failure!.remedy);
  for (const [remedy, groups] of byRemedy) {
    for (const [text, its] of groups)
      warn(`${its.map(({ node }) => node.name).join(', ')}: ${text}`);
    warn(`  ${remedy}`);
  }
  if (failed.length === 0) return ExitCode.Success;
  return failed.length === replies.length ? ExitCode.Failure : ExitCode.Partial;
}
