/** Why a node did not answer, in a form for tables, documents and people. */
import { CodedError } from '#infra/errors/errors.ts';

/** Stable: scripts read them with `-o json`. */
export type FailureReason =
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'unknown-host'
  | 'closed'
  | 'tls'
  | 'socket'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'busy'
  | 'status'
  | 'invalid-reply'
  | 'no-address';

export interface RequestFailure {
  readonly reason: FailureReason;
  /** The event in a few words, without the name of the node. */
  readonly text: string;
  /** The action that helps. */
  readonly remedy: string;
  /** Of a reply. */
  readonly status: number | undefined;
  /** Header `WWW-Authenticate` of the status 401. */
  readonly challenge?: string | undefined;
}

/** A request of netctl to a node failed. */
export class RequestError extends CodedError {
  readonly code = 'CV_NETCTL_REQUEST';
  readonly remedy = 'docs/netctl.md says for each reason what to do.';
  override readonly name = 'RequestError';
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure, details: { where: string; cause?: unknown }) {
    super(failure.text, details);
    this.failure = failure;
  }
}
