/** Asks nodes for their status, some at a time; one that does not answer stops no other. */
import { type ClusterNode, type ClusterStatus, NodeStatus } from '#documents/cluster.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { failure } from '#netctl/requests/failure-reason.ts';
import { RequestError } from '#netctl/requests/request-failure.ts';
import { clusterProblems } from '#netctl/status/cluster-problems.ts';
import { failureDocument } from './failures.ts';
import type { KnownNode, OtherAgent } from './other-agents.ts';

const AT_ONCE = 16;
/** Of one node, with the whole reply: one that sends a byte now and then must not keep a place. */
const WHOLE_MS = 10_000;
const MAX_BYTES = 1_048_576;

interface OwnNode {
  readonly thisNode: string;
  readonly read: () => Promise<NodeStatus>;
}

export async function clusterStatus(
  asked: readonly KnownNode[],
  { thisNode, read }: OwnNode,
  ask: (node: KnownNode, signal: AbortSignal) => OtherAgent,
  clock: Clock,
): Promise<Pick<ClusterStatus, 'nodes' | 'problems'>> {
  const nodes: ClusterNode[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < asked.length) {
      const at = next++;
      const node = asked[at]!;
      const { name, id } = node;
      const answer = await (name === thisNode ? read() : statusOf(node, ask, clock)).then(
        (status) => ({ status, failure: null }),
        (thrown: unknown) => {
          if (!(thrown instanceof RequestError)) throw thrown;
          return { status: null, failure: failureDocument(thrown) };
        },
      );
      nodes[at] = { name, id: id ?? null, ...answer };
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, asked.length) }, worker));
  const known = nodes.flatMap(({ status }) => status ?? []);
  return { nodes, problems: clusterProblems(known) };
}

/** @throws RequestError */
async function statusOf(
  asked: KnownNode,
  ask: (node: KnownNode, signal: AbortSignal) => OtherAgent,
  clock: Clock,
): Promise<NodeStatus> {
  const ended = new AbortController();
  const { client, node } = ask(asked, ended.signal);
  const where = node.name;
  const timer = clock.timer(WHOLE_MS, () => {
    const late = failure('timeout', `no whole reply within ${WHOLE_MS / 1000} s`);
    ended.abort(new RequestError(late, { where }));
  });
  try {
    const request = { method: 'GET', path: 'contiv/v1/status', maxBytes: MAX_BYTES } as const;
    const status = await client.json(node, request, NodeStatus);
    if (status.name === node.name) return status;
    const text = `the agent of ${status.name} answers there`;
    throw new RequestError(failure('invalid-reply', text), { where });
  } finally {
    timer.cancel();
  }
}
