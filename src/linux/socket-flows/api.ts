/**
 * Reports of the kernel about the connections of its sockets, whatever network namespace they are in. A connection between
 * two sockets of this kernel is reported at both ends. For UDP a connection is all that a client and a server port send to each
 * other, by however many sockets, until they are silent for a minute, or the server is for 10 s while the client sends.
 */

export interface ConnectionEnd {
  /** Canonical text; IPv4-mapped addresses are those of IPv4. */
  readonly address: string;
  readonly port: number;
}

export type ConnectionEvent =
  | BegunConnection
  | OpenedConnection
  | UnansweredConnection
  | EndedConnection;

export type FlowProtocol = 'TCP' | 'UDP';

export interface DatagramCounters {
  readonly sent: number;
  readonly received: number;
  /** Sockets of a client that have sent some; 0 at a server, where they cannot be counted. */
  readonly sockets: number;
}

/** Counters of the kernel for a connection. */
export interface ConnectionCounters {
  /** Bytes that the other end has acknowledged; those of UDP were sent. */
  readonly sent: number;
  readonly received: number;
  /** Smoothed, in microseconds; 0: not measured. */
  readonly rttUs: number;
  /** Segments that were sent again, without those that open the connection. */
  readonly retransmissions: number;
  /** Of UDP. */
  readonly datagrams?: DatagramCounters;
}

export interface AnyConnectionEvent {
  /** Distinguishes connections of this kernel, also those of one socket. */
  readonly id: string;
  readonly protocol: FlowProtocol;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** When the client has sent its first packet, or when the server has accepted the connection. */
  readonly begun: number;
  /** The end that is seen. */
  readonly side: 'client' | 'server';
  /** Whether its socket is in the network namespace of the host; undefined: the kernel does not report it (before 5.15). */
  readonly isOfHost: boolean | undefined;
  /** The port of a client of UDP is that of the socket that has sent first. */
  readonly local: ConnectionEnd;
  readonly remote: ConnectionEnd;
  /** The service that the client has asked, if the kernel has translated its address; `remote` is a backend then. */
  readonly service: ConnectionEnd | undefined;
}

/** A client has sent its first datagram. */
export interface BegunConnection extends AnyConnectionEvent {
  readonly kind: 'begun';
}

/** The server has answered. */
export interface OpenedConnection extends AnyConnectionEvent {
  readonly kind: 'opened';
}

/** The client sends its first packet again; it may yet be answered. */
export interface UnansweredConnection extends AnyConnectionEvent {
  readonly kind: 'unanswered';
}

export interface EndedConnection extends AnyConnectionEvent, ConnectionCounters {
  readonly kind: 'ended';
  /** `refused`: by a reset, or an ICMP error, of TCP alone. `unanswered`: the client, or its kernel, has given up. */
  readonly outcome: 'closed' | 'refused' | 'unanswered';
}

/** A connection that has not ended, as the kernel has it when it is asked. */
export interface OngoingConnection extends AnyConnectionEvent, ConnectionCounters {
  readonly kind: 'goes-on';
  /** Whether the other end has answered. */
  readonly isAnswered: boolean;
  /** Milliseconds in which the other end took no more bytes: its window was full. */
  readonly stalledMs: number;
}

/** The events of the kernel, for one reader. */
export interface FlowSource {
  /**
   * Calls back with events since the last call, in the order of the kernel.
   * @param limit of their number
   * @returns whether there may be more
   */
  read(each: (event: ConnectionEvent) => void, limit: number): boolean;
  /**
   * Calls back with each connection that was reported to begin, also to an earlier agent, and has not ended, and with those of
   * UDP that are silent; the event loop turns in between.
   * @throws LinuxError: some could not be read
   */
  measure(each: (connection: OngoingConnection | EndedConnection) => void): Promise<void>;
  /** Events that the kernel could not keep since its programs were loaded: they were read too slowly. */
  lost(): number;
  /** Conversations of UDP that have left the memory of the kernel for newer ones since its programs were loaded, when they were measured last. */
  readonly displaced: number;
  /** Parts that the kernel should have, and has not, because another program or an operator has removed it: each as text. */
  lostParts(): readonly string[];
  /** Makes the lost parts again. */
  restore(): void;
  /** Removes what reports from the kernel. It is not used afterwards. */
  remove(): void;
}
