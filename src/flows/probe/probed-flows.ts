import type { Clock } from '#infra/clock/clock.ts';
import type { FlowRing } from '../flow-ring.ts';
import type { Recorder } from '../recorder.ts';
import { Conversation } from './conversation.ts';
import type { ProbedFlow } from './probed-flow.ts';

/** VPP reports both directions of a flow 7 s after its last packet, and sends reports once a second. */
const SETTLED_MS = 9_000;
/** Without a packet for so long a conversation has ended. */
const idleMs: Readonly<Record<ProbedFlow['protocol'], number>> = { TCP: 300_000, UDP: 60_000 };
/** Bytes of those that continue change so often. */
const MEASURE_MS = 60_000;
/** A new one takes the place of that which was silent longest. */
const MAX_CONVERSATIONS = 32_768;

export interface ProbedFlowsDeps {
  readonly recorder: Pick<Recorder, 'record' | 'measure' | 'endUnreported'>;
  readonly ring: Pick<FlowRing, 'notify'>;
  /** Whether VPP has denied packets of it, which have a record. */
  readonly isDenied: (conversation: Conversation) => boolean;
  readonly clock: Clock;
}

interface Entry {
  readonly conversation: Conversation;
  /** When it was first heard of. */
  readonly since: number;
  /** denied: it has the record of the denial. */
  state: 'new' | 'denied' | 'unanswered' | 'open' | 'ended';
  measuredAt: number;
}

/** Events of connections, made of what VPP has counted of each direction by itself. */
export class ProbedFlows {
  readonly #deps: ProbedFlowsDeps;
  /** Those heard of last are last. */
  readonly #entries = new Map<string, Entry>();
  #displaced = 0;

  constructor(deps: ProbedFlowsDeps) {
    this.#deps = deps;
  }

  /** Conversations that have left their place for newer ones. */
  get displaced(): number {
    return this.#displaced;
  }

  add(flow: ProbedFlow): void {
    if (isGroup(flow.destination.address)) return;
    const { recorder, clock } = this.#deps;
    const entry = this.#entryOf(flow);
    const { conversation } = entry;
    conversation.add(flow);
    conversation.heard = clock.now();
    if (entry.state === 'ended') return;
    if (conversation.isRefused) this.#end(entry, 'refused');
    else if (conversation.isAnswered && entry.state !== 'open') {
      entry.state = 'open';
      recorder.record({ ...conversation.event(conversation.last), kind: 'opened' });
    } else if (entry.state === 'new') this.#judge(entry);
    else if (entry.state !== 'denied' && clock.now() - entry.measuredAt >= MEASURE_MS)
      this.#measure(entry);
  }

  /** To be called from time to time: some things are known once nothing more is reported. */
  settle(): void {
    const { ring, clock } = this.#deps;
    const now = clock.now();
    for (const [key, entry] of this.#entries) {
      const { conversation, state, measuredAt } = entry;
      const silence = now - conversation.heard;
      if (silence < SETTLED_MS) break;
      const isIdle = silence >= idleMs[conversation.protocol];
      if (state === 'new') this.#judge(entry);
      else if (state === 'open' && (isIdle || conversation.isFinished)) this.#end(entry, 'closed');
      else if (state === 'unanswered' && isIdle) this.#end(entry, 'unanswered');
      else if (conversation.heard > measuredAt && state !== 'ended' && state !== 'denied')
        this.#measure(entry);
      if (isIdle || entry.state === 'ended' || entry.state === 'denied') this.#entries.delete(key);
    }
    ring.notify();
  }

  /** A new one without an answer, once VPP would have reported one. */
  #judge(entry: Entry): void {
    const { recorder, isDenied, clock } = this.#deps;
    const { conversation, since } = entry;
    if (clock.now() - since < SETTLED_MS || !conversation.isAttempt) return;
    entry.state = isDenied(conversation) ? 'denied' : 'unanswered';
    if (entry.state === 'unanswered')
      recorder.record({ ...conversation.event(conversation.last), kind: 'unanswered' });
  }

  /** The last one then. */
  #entryOf(flow: ProbedFlow): Entry {
    const key = Conversation.key(flow);
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    // its ports are used again
    const isOver = known?.state === 'ended' && flow.isSyn && flow.begun > known.conversation.last;
    const entry: Entry =
      known && !isOver
        ? known
        : {
            conversation: new Conversation(flow),
            since: this.#deps.clock.now(),
            state: 'new',
            measuredAt: Number.NEGATIVE_INFINITY,
          };
    if (this.#entries.size >= MAX_CONVERSATIONS) this.#displaceOldest();
    this.#entries.set(key, entry);
    return entry;
  }

  #displaceOldest(): void {
    for (const [key, { conversation, state }] of this.#entries) {
      this.#entries.delete(key);
      this.#displaced++;
      if (state === 'open') this.#deps.recorder.endUnreported(conversation.event(0).id);
      return;
    }
  }

  #end(entry: Entry, outcome: 'closed' | 'refused' | 'unanswered'): void {
    const { conversation } = entry;
    entry.state = 'ended';
    const event = conversation.event(conversation.last);
    this.#deps.recorder.record({ ...event, kind: 'ended', outcome, ...conversation.counters });
  }

  #measure(entry: Entry): void {
    const { conversation } = entry;
    const now = this.#deps.clock.now();
    entry.measuredAt = now;
    const event = conversation.event(now);
    this.#deps.recorder.measure({
      ...event,
      kind: 'goes-on',
      isAnswered: conversation.isAnswered,
      stalledMs: 0,
      ...conversation.counters,
    });
  }
}

/** Multicast and broadcast have no answers. */
function isGroup(address: string): boolean {
  return /^(22[4-9]|23\d)\.|^255\.255\.255\.255$|^ff/.test(address);
}
