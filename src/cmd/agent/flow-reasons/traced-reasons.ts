import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { PairTrace, TracedPath } from '#packet-trace/pair-trace.ts';
import { PairTracer } from '../pair-trace/pair-tracer.ts';

export interface TracedReasonsDeps {
  /** The actual state of this node. */
  readonly readSnapshot: () => Promise<NodeSnapshot>;
  readonly clock: Clock;
}

/** A trace reads the state of VPP, and needs a thread of its own for a second or two on a large node. */
const SHORTEST_PAUSE_MS = 10_000;
/** Connections between the same ends fail for the same reason meanwhile. */
const KNOWN_MS = 60_000;
const MAX_KNOWN = 1_000;

interface Known {
  readonly at: number;
  /** undefined: this node drops neither the packet nor the reply. */
  readonly reason: string | undefined;
}

/** Why packets of connections get lost on this node, by the packet trace on its actual state: of some of them, one at a time. */
export class TracedReasons {
  readonly #deps: TracedReasonsDeps;
  readonly #tracer: PairTracer;
  readonly #known = new Map<string, Known>();
  #tracedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: TracedReasonsDeps) {
    this.#deps = deps;
    this.#tracer = new PairTracer(deps.clock);
  }

  /** @returns undefined: it is not known, or too many are asked for */
  async find({ client, server, protocol }: Flow): Promise<string | undefined> {
    const { clock, readSnapshot } = this.#deps;
    const { port } = server;
    // a prefix of an address cannot be traced
    if (port === undefined || client.kind === 'outside' || server.address.includes('/'))
      return undefined;
    const pair = `${client.address} ${server.address} ${protocol} ${port}`;
    const now = clock.monotonic();
    const known = this.#known.get(pair);
    if (known && now - known.at < KNOWN_MS) return known.reason;
    if (now - this.#tracedAt < SHORTEST_PAUSE_MS) return undefined;
    this.#tracedAt = now;
    const traced = await this.#tracer.trace(async () => ({
      node: await readSnapshot(),
      source: client.address,
      destination: server.address,
      ports: { protocol, port, sourcePort: client.port },
    }));
    const reason = traced && lossText(traced);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(pair, { at: now, reason });
    return reason;
  }
}

function lossText({ paths }: PairTrace): string | undefined {
  const failed = paths.filter(isLost);
  const [first] = failed;
  if (!first) return undefined;
  const { hops } = first.reply ?? first.trace;
  const last = hops.at(-1);
  if (!last) return undefined;
  const part =
    failed.length < paths.length ? ` (${failed.length} of ${paths.length} backends)` : '';
  return `packet trace${first.reply ? ' of the reply' : ''}${part}: ${last.device} ${last.description}`;
}

/** A packet that leaves the node may be lost elsewhere, and may be answered. */
function isLost({ trace, reply }: TracedPath): boolean {
  const { verdict } = reply ?? trace;
  return verdict === 'dropped' || verdict === 'refused';
}
