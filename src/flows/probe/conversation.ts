import { createHash } from 'node:crypto';
import type { AnyConnectionEvent, ConnectionCounters } from '#linux/socket-flows/api.ts';
import type { FlowAddress, ProbedFlow } from './probed-flow.ts';

interface Direction {
  packets: number;
  bytes: number;
  begun: number;
  isSyn: boolean;
  isFin: boolean;
  isRst: boolean;
}

const unseen = (): Direction => ({
  packets: 0,
  bytes: 0,
  begun: Number.POSITIVE_INFINITY,
  isSyn: false,
  isFin: false,
  isRst: false,
});

/** Both directions of what a pod and another end send to each other by two ports. */
export class Conversation {
  readonly #protocol: ProbedFlow['protocol'];
  readonly #pod: FlowAddress;
  readonly #other: FlowAddress;
  readonly #fromPod = unseen();
  readonly #toPod = unseen();
  /** Decided once. */
  #identity: Pick<AnyConnectionEvent, 'id' | 'begun' | 'side'> | undefined;
  /** Of the last packet, by the clock of VPP. */
  #last = 0;
  /** When a report of it was read last. */
  heard = 0;

  constructor({ protocol, isFromPod, source, destination }: ProbedFlow) {
    this.#protocol = protocol;
    [this.#pod, this.#other] = isFromPod ? [source, destination] : [destination, source];
  }

  static key({ swIfIndex, protocol, isFromPod, source, destination }: ProbedFlow): string {
    const [pod, other] = isFromPod ? [source, destination] : [destination, source];
    return `${swIfIndex} ${protocol} ${pod.address} ${pod.port} ${other.address} ${other.port}`;
  }

  get protocol(): ProbedFlow['protocol'] {
    return this.#protocol;
  }

  get last(): number {
    return this.#last;
  }

  get isAnswered(): boolean {
    return this.#fromPod.packets > 0 && this.#toPod.packets > 0;
  }

  /** A reset answers the first packet of a client. */
  get isRefused(): boolean {
    if (!this.isAnswered || this.#protocol !== 'TCP') return false;
    const [client, server] = this.#byRole();
    return client.isSyn && server.isRst && !server.isSyn;
  }

  /** Of TCP whose begin is not seen, one direction alone says nothing. */
  get isAttempt(): boolean {
    return this.#protocol === 'UDP' || this.#fromPod.isSyn || this.#toPod.isSyn;
  }

  get isFinished(): boolean {
    const [one, other] = [this.#fromPod, this.#toPod];
    return one.isRst || other.isRst || (one.isFin && other.isFin);
  }

  add(flow: ProbedFlow): void {
    const direction = flow.isFromPod ? this.#fromPod : this.#toPod;
    direction.packets = sum(direction.packets, flow.packets);
    direction.bytes = sum(direction.bytes, flow.bytes);
    direction.begun = Math.min(direction.begun, flow.begun);
    direction.isSyn ||= flow.isSyn;
    direction.isFin ||= flow.isFin;
    direction.isRst ||= flow.isRst;
    this.#last = Math.max(this.#last, flow.last);
  }

  event(time: number): AnyConnectionEvent {
    this.#identity ??= this.#identify();
    return {
      ...this.#identity,
      protocol: this.#protocol,
      time: Math.floor(time),
      isOfHost: false,
      local: this.#pod,
      remote: this.#other,
      service: undefined,
    };
  }

  get counters(): ConnectionCounters {
    const [sent, received] = [this.#fromPod, this.#toPod];
    const isClient = this.#identity?.side === 'client';
    return {
      sent: sent.bytes,
      received: received.bytes,
      rttUs: 0,
      retransmissions: 0,
      ...(this.#protocol === 'UDP' && {
        datagrams: { sent: sent.packets, received: received.packets, sockets: isClient ? 1 : 0 },
      }),
    };
  }

  /** The client first. */
  #byRole(): readonly [Direction, Direction] {
    return this.#isPodClient() ? [this.#fromPod, this.#toPod] : [this.#toPod, this.#fromPod];
  }

  /** The client has sent the first packet; of a connection whose begin was not seen, it has the higher port. */
  #isPodClient(): boolean {
    const [pod, other] = [this.#fromPod, this.#toPod];
    const isBeginUnseen = this.#protocol === 'TCP' && !pod.isSyn && !other.isSyn;
    if (isBeginUnseen && this.#pod.port !== this.#other.port)
      return this.#pod.port > this.#other.port;
    return pod.begun <= other.begun;
  }

  /** An agent that has restarted finds the same ID as long as VPP knows the flow. */
  #identify(): Pick<AnyConnectionEvent, 'id' | 'begun' | 'side'> {
    const isClient = this.#isPodClient();
    const begun = Math.floor(Math.min(this.#fromPod.begun, this.#toPod.begun));
    const { address, port } = this.#other;
    const ends = `${this.#protocol} ${this.#pod.address} ${this.#pod.port} ${address} ${port}`;
    const hash = createHash('sha256').update(ends).digest('hex').slice(0, 12);
    return { id: `probe-${begun}-${hash}`, begun, side: isClient ? 'client' : 'server' };
  }
}

/** Exact, also if a report is none of VPP. */
function sum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}
