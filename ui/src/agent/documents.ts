/** Shapes of the documents that more than one view reads; docs/rest.md and docs/events.md describe them. */

/** One record of `GET /controller/event-history`, and one message of `GET /controller/events`. */
export interface ProcessedEvent {
  readonly SeqNum: number;
  /** RFC 3339. */
  readonly ProcessingStart: string;
  readonly ProcessingEnd: string;
  readonly IsFollowUp: boolean;
  readonly FollowUpTo: number;
  readonly Name: string;
  readonly Description: string;
  /** FullResync 0, DownstreamResync 1, UpstreamResync 2, Update 3. */
  readonly Method: number;
  readonly Handlers: readonly HandlerCall[];
  readonly TxnErrorStr: string;
  readonly Trace: EventTrace;
}

export interface HandlerCall {
  readonly Handler: string;
  readonly Revert: boolean;
  readonly Change: string;
  readonly ErrorStr: string;
  /** From the start of processing. */
  readonly StartMs: number;
  readonly TookMs: number;
}

export interface EventTrace {
  readonly Origin: {
    readonly Key?: string;
    readonly Revision?: string;
    readonly Container?: string;
    /** RFC 3339: when the agent learned of it. */
    readonly Heard?: string;
  } | null;
  readonly QueuedMs: number;
  /** From its origin to its end. */
  readonly TotalMs: number;
  /** From the start of processing; null: nothing was committed. */
  readonly CommitStartMs: number | null;
  readonly CommitMs: number | null;
  readonly Transaction: {
    readonly SeqNum: number;
    /** Waiting for the transactions before it; the times that follow are in their order. */
    readonly QueuedMs: number;
    readonly ReadingMs: number;
    readonly PlanningMs: number;
    readonly WritingMs: number;
    readonly ExecutionMs: number;
    readonly Operations: number;
  } | null;
}

/** A component in `GET /readiness`; zeros are left out. */
export interface ComponentStatus {
  readonly name: string;
  /** Starting 0 or absent, OK 1, error 2. */
  readonly state?: number;
  readonly error?: string;
  /** Seconds since 1970. */
  readonly last_change?: number;
}

export interface ReadinessDocument {
  readonly build_version?: string;
  readonly state?: number;
  /** Seconds since 1970. */
  readonly start_time?: number;
  readonly PluginStatus: Readonly<Record<string, ComponentStatus>>;
  readonly NonFatalPlugins?: readonly ComponentStatus[];
}

/** `GET /contiv/v1/ipam`. */
export interface IpamDocument {
  readonly nodeId: number;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly podSubnetThisNode: string;
  readonly vppHostNetwork: string;
}
