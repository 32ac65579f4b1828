import type { Clock } from '#infra/clock/clock.ts';
import type { BpfMap } from '../bpf/map.ts';
import type { RingBuffer } from '../bpf/ring-buffer.ts';
import type { ConnectionEnd, ConnectionEvent, EndedConnection, FlowSource } from './api.ts';
import type { FlowInstallation } from './installation.ts';
import { addressAt, connectionFlags, connectionState, eventKinds, flowEvent } from './layout.ts';

/** States of a connection before it is closed. */
const states = { synSent: 2, finWait2: 5, closeWait: 8, lastAck: 9, closing: 11 } as const;
/** The FIN of the other end was acknowledged, or of this one. */
const isFinReceived: ReadonlySet<number> = new Set([
  states.closeWait,
  states.lastAck,
  states.closing,
]);
const isFinSent: ReadonlySet<number> = new Set([states.finWait2, states.lastAck, states.closing]);
/** Of the kernel's clock. */
const NS_PER_MS = 1_000_000;

export interface KernelFlowsDeps {
  readonly installation: Pick<FlowInstallation, 'lostParts' | 'restore' | 'uninstall'>;
  readonly ring: Pick<RingBuffer, 'read' | 'close'>;
  readonly lost: Pick<BpfMap, 'get'>;
  /** Cookie of the network namespace of the host; undefined: unknown. */
  readonly hostNamespace: bigint | undefined;
  readonly clock: Clock;
}

/** Events of this machine's kernel. */
export class KernelFlows implements FlowSource {
  readonly #deps: KernelFlowsDeps;
  /** Milliseconds since the epoch when the kernel's clock was 0. */
  #boot = 0;

  constructor(deps: KernelFlowsDeps) {
    this.#deps = deps;
  }

  read(each: (event: ConnectionEvent) => void, limit: number): boolean {
    const { ring, clock } = this.#deps;
    // of each reading: the clock may be set
    this.#boot = clock.now() - monotonicMs();
    return ring.read((bytes) => each(this.#decode(bytes)), limit);
  }

  lost(): number {
    const found = this.#deps.lost.get(Buffer.alloc(4));
    return Number(found?.readBigUInt64LE() ?? 0n);
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
    const flags = bytes.readUInt32LE(flowEvent.state + connectionState.flags);
    const begun = bytes.readBigUInt64LE(flowEvent.state + connectionState.begun);
    const any = {
      id: `${bytes.readBigUInt64LE(flowEvent.socket)}-${begun}`,
      time: this.#timeAt(bytes, flowEvent.time),
      begun: this.#timeAt(bytes, flowEvent.state + connectionState.begun),
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
    } as const;
    switch (bytes.readUInt32LE(flowEvent.kind)) {
      case eventKinds.opened:
        return { kind: 'opened', ...any };
      case eventKinds.unanswered:
        return { kind: 'unanswered', ...any };
      default:
        return {
          kind: 'ended',
          ...any,
          outcome: outcomeOf(bytes.readUInt32LE(flowEvent.oldState), flags),
          ...bytesOf(bytes, any.side),
          rttUs: bytes.readUInt32LE(flowEvent.rtt) >>> 3,
          retransmissions: bytes.readUInt32LE(flowEvent.retransmissions),
        };
    }
  }

  #timeAt(bytes: Buffer, offset: number): number {
    return this.#boot + Number(bytes.readBigUInt64LE(offset)) / NS_PER_MS;
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

function outcomeOf(oldState: number, flags: number): EndedConnection['outcome'] {
  if (oldState !== states.synSent) return 'closed';
  const { isGivenUp, isExpired } = connectionFlags;
  return flags & (isGivenUp | isExpired) ? 'unanswered' : 'refused';
}

/** The kernel counts SYN and FIN as bytes; those of the peer's SYN, and of SYN-ACK, are left out. */
function bytesOf(
  bytes: Buffer,
  side: 'client' | 'server',
): Pick<EndedConnection, 'sent' | 'received'> {
  const oldState = bytes.readUInt32LE(flowEvent.oldState);
  const acknowledged = Number(bytes.readBigUInt64LE(flowEvent.sent));
  const received = Number(bytes.readBigUInt64LE(flowEvent.received));
  const before = bytes.readBigUInt64LE(flowEvent.state + connectionState.receivedBefore);
  const hasFin =
    isFinReceived.has(oldState) || (oldState === states.finWait2 && received > Number(before));
  const controls = Number(side === 'client') + Number(isFinSent.has(oldState));
  return {
    sent: Math.max(0, acknowledged - controls),
    received: Math.max(0, received - Number(hasFin)),
  };
}
