/**
 * Verification mode: after an event everything is recalculated. The internal data of each handler
 * must be unchanged, and the transaction must not execute any operation.
 */
import { inspect } from 'node:util';
import type { FoundDifference, VerificationDocument } from '#documents/verification.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import type { Logger } from '#infra/log/log.ts';
import type { EventHandler } from './api/event-handler.ts';

/** Limits of the stored differences. */
const MAX_DIFFERENCES = 100;
const MAX_OPERATIONS = 50;
const MAX_CHARACTERS = 4096;

/** A Verification Resync and the event that it followed. */
export interface Verified {
  readonly seqNum: number;
  readonly followUpTo: number | undefined;
}

interface Operation {
  readonly Operation: string;
  readonly Key: string;
  /** No request was sent. */
  readonly NOOP?: true;
}

/** The executed operations in a transaction's REST record. */
export interface RecordedOperations {
  readonly Executed?: readonly Operation[];
}

export interface VerificationCounts {
  readonly resyncs: number;
  /** Handlers whose internal data were out of sync. */
  readonly internalData: number;
  /** Resyncs that executed operations on VPP or Linux. */
  readonly configuration: number;
}

export class Verification {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #differences: FoundDifference[] = [];
  #resyncs = 0;
  #internalData = 0;
  #configuration = 0;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  get counts(): VerificationCounts {
    return {
      resyncs: this.#resyncs,
      internalData: this.#internalData,
      configuration: this.#configuration,
    };
  }

  /** Document of `/controller/verification`. */
  document(enabled: boolean): VerificationDocument {
    return {
      Enabled: enabled,
      Resyncs: this.#resyncs,
      InternalDataDifferences: this.#internalData,
      ConfigurationDifferences: this.#configuration,
      Differences: this.#differences,
    };
  }

  /** Called when a Verification Resync starts. */
  begin(): void {
    this.#resyncs++;
  }

  /** The internal data of a handler; undefined if it does not describe them. */
  internalDataOf(handler: EventHandler): string | undefined {
    try {
      return handler.describeInternalData?.();
    } catch (thrown) {
      return `describeInternalData threw ${inspect(thrown, { depth: 0 })}`;
    }
  }

  compareInternalData(verified: Verified, handler: EventHandler, before: string | undefined): void {
    const after = this.internalDataOf(handler);
    if (before === after) return;
    this.#internalData++;
    this.#log.error(
      { handler: handler.name, before, after },
      'internal data of the event handler were not in sync',
    );
    this.#addDifference(verified, {
      Handler: handler.name,
      Before: shortened(before),
      After: shortened(after),
    });
  }

  /** @param executed operations of a resync, of which there must be none */
  checkOperations(
    verified: Verified,
    transaction: number,
    { Executed = [] }: RecordedOperations,
  ): void {
    const done = Executed.filter(({ NOOP }) => !NOOP);
    if (done.length === 0) return;
    this.#configuration++;
    const operations = done.length;
    this.#log.error(
      { transaction, operations },
      'the configuration of VPP and Linux was not in sync',
    );
    this.#addDifference(verified, {
      Transaction: transaction,
      Operations: done.slice(0, MAX_OPERATIONS).map(({ Operation, Key }) => ({
        Operation,
        Key,
      })),
      OperationCount: operations,
    });
  }

  #addDifference({ seqNum, followUpTo }: Verified, difference: Partial<FoundDifference>): void {
    if (this.#differences.length === MAX_DIFFERENCES) this.#differences.shift();
    const Time = rfc3339(this.#clock.now());
    this.#differences.push({ SeqNum: seqNum, FollowUpTo: followUpTo ?? null, Time, ...difference });
  }
}

function shortened(text = ''): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}… (${text.length - MAX_CHARACTERS} more characters)`;
}
