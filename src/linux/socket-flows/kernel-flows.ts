import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import { LinuxError, type LinuxHost, NamespaceNotFoundError, type NamespacePath } from '../api.ts';
import type { BpfMap } from '../bpf/map.ts';
import type { RingBuffer } from '../bpf/ring-buffer.ts';
import type {
  AnyConnectionEvent,
  ConnectionCounters,
  ConnectionEnd,
  ConnectionEvent,
  EndedConnection,
  FlowSource,
  OngoingConnection,
} from './api.ts';
import { conversationEvent, type KernelTerms, measureConversations } from './conversations.ts';
import type { FlowCounters } from './counters.ts';
import type { FlowInstallation } from './installation.ts';
import {
  addressAt,
  connectionFlags,
  connectionState,
  conversationEventLength,
  eventKinds,
  flowEvent,
  measuredEvent,
} from './layout.ts';

/** States of a connection before it is closed. */
const states = { synSent: 2, finWait2: 5, closeWait: 8, lastAck: 9, closing: 11 } as const;
/** The FIN of the other end was acknowledged, or of this one. */
const isFinReceived: ReadonlySet<number> = new Set([
  states.closeWait,
  states.lastAck,
  states.closing,
]);
const isFinSent: ReadonlySet<number> = new Set([states.finWait2, states.lastAck, states.closing]);
/** Likewise, of a connection that continues: its state is that of now. */
const isFinAcknowledged: ReadonlySet<number> = new Set([states.finWait2]);
/** Of the kernel's clock. */
const NS_PER_MS = 1_000_000;
const US_PER_MS = 1_000;
/** Failures that an error names. */
const NAMED = 5;

/** Connections of the machine that continue, of which a map has states. */
export interface SeenConnections extends Pick<LinuxHost, 'namespaces'> {
  /** @param states descriptor of the map @returns events of the layout */
  seenConnections(namespace: NamespacePath, states: number): Promise<Uint8Array>;
}

export interface KernelFlowsDeps {
  readonly installation: Pick<FlowInstallation, 'lostParts' | 'restore' | 'uninstall'>;
  readonly ring: Pick<RingBuffer, 'read' | 'close'>;
  readonly counters: FlowCounters;
  readonly states: Pick<BpfMap, 'file'>;
  readonly conversations: Pick<BpfMap, 'entries' | 'delete'>;
  readonly connections: SeenConnections;
  /** Cookie of the network namespace of the host; undefined: unknown. */
  readonly hostNamespace: bigint | undefined;
  readonly clock: Clock;
}

/** Events of this machine's kernel. */
export class KernelFlows implements FlowSource {
  readonly #deps: KernelFlowsDeps;
  /** Milliseconds since the epoch when the kernel's clock was 0. */
  #boot = 0;
  #displaced = 0;
  readonly #terms: KernelTerms = {
    time: (time) => this.#boot + Number(time) / NS_PER_MS,
    isOfHost: (namespace) => this.#isOfHost(namespace),
  };

  constructor(deps: KernelFlowsDeps) {
    this.#deps = deps;
  }

  read(each: (event: ConnectionEvent) => void, limit: number): boolean {
    const { ring, clock } = this.#deps;
    // of each reading: the clock may be set
    this.#boot = clock.now() - monotonicMs();
    return ring.read((bytes) => each(this.#decode(bytes)), limit);
  }

  async measure(each: (connection: OngoingConnection | EndedConnection) => void): Promise<void> {
    const { connections, states, conversations, counters, clock } = this.#deps;
    this.#boot = clock.now() - monotonicMs();
    const displaced = await measureConversations(
      { conversations, counters, terms: this.#terms, clock },
      each,
    );
    this.#displaced = Math.max(this.#displaced, displaced);
    const slices = new Slices(clock);
    const failures = new Set<string>();
    for (const namespace of [undefined, ...(await connections.namespaces())]) {
      try {
        const found = Buffer.from(await connections.seenConnections(namespace, states.file));
        this.#boot = clock.now() - monotonicMs();
        const { length } = measuredEvent;
        for (let at = 0; at < found.length; at += length) {
          if (slices.due()) await slices.turn();
          each(this.#decodeOngoing(found.subarray(at, at + length)));
        }
      } catch (thrown) {
        if (!(thrown instanceof NamespaceNotFoundError)) failures.add(errorText(thrown));
      }
    }
    if (failures.size > 0) throw new LinuxError([...failures].slice(0, NAMED).join('; '));
  }

  lost(): number {
    return this.#deps.counters.get('lost');
  }

  get displaced(): number {
    return this.#displaced;
  }

  lostParts(): readonly string[] {
    return this.#deps.installation.lostParts();
  }

  restore(): void {
    this.#deps.installation.restore();
  }

  remove(): void {
    this.#deps.installation.uninstall();
    this.#deps.ring.close();
  }

  #decode(bytes: Buffer): ConnectionEvent {
    if (bytes.length === conversationEventLength) return conversationEvent(bytes, this.#terms);
    const any = this.#decodeAny(bytes);
    switch (bytes.readUInt32LE(flowEvent.kind)) {
      case eventKinds.opened:
        return { kind: 'opened', ...any };
      case eventKinds.unanswered:
        return { kind: 'unanswered', ...any };
      default:
        return {
          kind: 'ended',
          ...any,
          outcome: outcomeOf(bytes),
          ...countersOf(bytes, any.side, isFinSent),
        };
    }
  }

  #decodeOngoing(bytes: Buffer): OngoingConnection {
    const any = this.#decodeAny(bytes);
    return {
      kind: 'goes-on',
      ...any,
      isAnswered: bytes.readUInt32LE(flowEvent.oldState) !== states.synSent,
      stalledMs: Number(bytes.readBigUInt64LE(measuredEvent.stalled)) / US_PER_MS,
      ...countersOf(bytes, any.side, isFinAcknowledged),
    };
  }

  #decodeAny(bytes: Buffer): AnyConnectionEvent {
    const flags = bytes.readUInt32LE(flowEvent.state + connectionState.flags);
    const begun = bytes.readBigUInt64LE(flowEvent.state + connectionState.begun);
    return {
      id: `${bytes.readBigUInt64LE(flowEvent.socket)}-${begun}`,
      protocol: 'TCP',
      time: this.#terms.time(bytes.readBigUInt64LE(flowEvent.time)),
      begun: this.#terms.time(begun),
      side: flags & connectionFlags.isServer ? 'server' : 'client',
      isOfHost: this.#isOfHost(bytes.readBigUInt64LE(flowEvent.namespace)),
      local: {
        address: addressAt(bytes, flowEvent.localAddress),
        port: bytes.readUInt32LE(flowEvent.localPort),
      },
      remote: {
        address: addressAt(bytes, flowEvent.remoteAddress),
        port: bytes.readUInt16BE(flowEvent.remotePort + 2),
      },
      service: serviceOf(bytes),
    };
  }

  #isOfHost(namespace: bigint): boolean | undefined {
    const { hostNamespace } = this.#deps;
    return namespace === 0n || hostNamespace === undefined
      ? undefined
      : namespace === hostNamespace;
  }
}

/** Of the clock that programs read. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / NS_PER_MS;
}

function serviceOf(bytes: Buffer): ConnectionEnd | undefined {
  const at = flowEvent.state + connectionState.service;
  const port = bytes.readUInt16BE(at + 16);
  return port === 0 ? undefined : { address: addressAt(bytes, at), port };
}

function outcomeOf(bytes: Buffer): EndedConnection['outcome'] {
  const flags = bytes.readUInt32LE(flowEvent.state + connectionState.flags);
  const oldState = bytes.readUInt32LE(flowEvent.oldState);
  if (oldState !== states.synSent) return 'closed';
  const { isGivenUp, isExpired } = connectionFlags;
  return flags & (isGivenUp | isExpired) ? 'unanswered' : 'refused';
}

/** The kernel counts SYN and FIN as bytes; those of the peer's SYN, and of SYN-ACK, are left out. */
function countersOf(
  bytes: Buffer,
  side: 'client' | 'server',
  isFinCounted: ReadonlySet<number>,
): ConnectionCounters {
  const oldState = bytes.readUInt32LE(flowEvent.oldState);
  const acknowledged = Number(bytes.readBigUInt64LE(flowEvent.sent));
  const received = Number(bytes.readBigUInt64LE(flowEvent.received));
  const before = bytes.readBigUInt64LE(flowEvent.state + connectionState.receivedBefore);
  const hasFin =
    isFinReceived.has(oldState) || (oldState === states.finWait2 && received > Number(before));
  const controls = Number(side === 'client') + Number(isFinCounted.has(oldState));
  return {
    sent: Math.max(0, acknowledged - controls),
    received: Math.max(0, received - Number(hasFin)),
    rttUs: bytes.readUInt32LE(flowEvent.rtt) >>> 3,
    retransmissions: bytes.readUInt32LE(flowEvent.retransmissions),
  };
}
