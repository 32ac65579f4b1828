import type { KvChange } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { ClosedControllerError, EventLoopIsAbortingError } from '#plugins/controller/api/errors.ts';
import type { Event, EventOrigin } from '#plugins/controller/api/event.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import { DbResync } from '#plugins/controller/api/events.ts';
import type { DbStatus, ExternalConfigListener } from './api.ts';
import { changeEvent } from './change-event.ts';
import type { KeySpace } from './key-space.ts';
import { LastKnownState } from './last-known-state.ts';
import type { Mirror } from './mirror.ts';
import type { RetainedRecords } from './retained-records.ts';
import type { DecodedEntries } from './snapshot.ts';
import { UnknownFieldsLog } from './unknown-fields-log.ts';
import type { WatchSession } from './watch-session.ts';

/** Keys in a log line. */
const MAX_LOGGED = 20;

export interface PublishedStateDeps {
  readonly loop: Pick<EventLoop, 'push'>;
  /** The event loop accepts no more events. */
  readonly onLoopClosed: () => void;
  readonly onExternalConfig: ExternalConfigListener | undefined;
  readonly keySpace: KeySpace;
  readonly retained: RetainedRecords;
  readonly mirror: Mirror | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Pushes resyncs and changes to the event loop, and remembers what it has accepted. A rejected event
 * changes nothing here, so that the next read of the database finds the difference again.
 */
export class PublishedState {
  readonly #deps: PublishedStateDeps;
  readonly #unknownFields: UnknownFieldsLog;
  #lastKnown: LastKnownState;
  #source: DbStatus['source'] = 'none';
  #resyncs = 0;

  constructor(deps: PublishedStateDeps) {
    this.#deps = deps;
    this.#unknownFields = new UnknownFieldsLog(deps.log);
    this.#lastKnown = new LastKnownState(deps.keySpace, deps.log);
  }

  get lastKnown(): LastKnownState {
    return this.#lastKnown;
  }

  /** Source of the last resync. */
  get source(): DbStatus['source'] {
    return this.#source;
  }

  /** Number of resyncs that the event loop has accepted. */
  get resyncs(): number {
    return this.#resyncs;
  }

  /**
   * Whether the event loop has what a key has after a change, so that it needs no event. A program may wait for the
   * status of external configuration.
   */
  isKnown({ key, value }: KvChange): boolean {
    return (
      this.#source !== 'none' &&
      this.#lastKnown.text(key) === value &&
      !this.#deps.keySpace.isExternal(key)
    );
  }

  /** @returns why the event loop rejected the event */
  resync(
    { known, content }: DecodedEntries,
    source: DbStatus['source'],
    acceptedEmpty = false,
  ): Error | undefined {
    const { retained, keySpace } = this.#deps;
    const retainedKeys = retained.keys().map((key) => keySpace.find(key)!.key);
    const failure = this.#push(
      DbResync.event({
        local: source === 'mirror',
        ...content,
        ...(acceptedEmpty && { acceptedEmpty }),
        ...(retainedKeys.length > 0 && { retained: retainedKeys }),
      }),
    );
    if (failure) return failure;
    this.#lastKnown = known;
    this.#unknownFields.report(known);
    this.#source = source;
    this.#resyncs++;
    if (source === 'store') this.#deps.onExternalConfig?.read();
    return undefined;
  }

  /**
   * Publishes the oldest pending changes of a session.
   * @param limit their number
   * @returns false if the event loop rejected an event
   */
  async change(session: WatchSession, limit: number): Promise<boolean> {
    const { clock, mirror } = this.#deps;
    const changed: string[] = [];
    const slices = new Slices(clock);
    let accepted = true;
    for (let room = limit; room > 0; room--) {
      if (slices.dueNow()) await slices.turn();
      // A resync in the meantime includes these changes.
      if (!session.isOpen) break;
      const next = session.pending.next();
      if (!next) break;
      const { key, value, revision, heard } = next;
      accepted = this.#change(key, value, changed, { key, revision, heard });
      if (!accepted) break;
    }
    this.#unknownFields.report(this.#lastKnown, changed);
    mirror?.changed(changed);
    return accepted;
  }

  /**
   * Publishes the deletion of the records that were retained until now.
   * @returns false if the event loop rejected an event
   */
  dropRetained(): boolean {
    const { retained, mirror, log } = this.#deps;
    const keys = retained.keys();
    log.warn(
      { keys: keys.slice(0, MAX_LOGGED), count: keys.length },
      'removing records that the database has lost',
    );
    const changed: string[] = [];
    const accepted = keys.every((key) => this.#change(key, undefined, changed));
    mirror?.changed(changed);
    return accepted;
  }

  /**
   * Applies a change of a key, and the end of the retention that it causes.
   * @param changed the changed keys are added
   * @returns false if the event loop rejected an event
   */
  #change(
    key: string,
    value: string | undefined,
    changed: string[],
    origin?: EventOrigin,
  ): boolean {
    const { retained, keySpace, onExternalConfig } = this.#deps;
    retained.release(key);
    const { difference, accept } = this.#lastKnown.prepareChange(key, value);
    if (difference?.current && difference.watchedKey.resource === resources.vppnode.keyword) {
      const record = difference.current as VppNode;
      for (const replaced of retained.replacedBy(record, this.#lastKnown))
        if (!this.#change(replaced, undefined, changed)) return false;
    }
    if (difference && this.#push(changeEvent(difference, origin))) return false;
    accept();
    if (keySpace.isExternal(key)) onExternalConfig?.changed(keySpace.find(key)!.key);
    changed.push(key);
    return true;
  }

  /** @returns why the event loop rejected the event */
  #push(event: Event): Error | undefined {
    const { loop, onLoopClosed, log } = this.#deps;
    try {
      loop.push(event);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof ClosedControllerError || thrown instanceof EventLoopIsAbortingError) {
        log.info({ reason: thrown.message }, 'event loop is closed; the datastore watcher stops');
        onLoopClosed();
      } else {
        log.warn({ reason: errorText(thrown) }, 'event loop rejected an event');
      }
      return thrown instanceof Error ? thrown : new Error(errorText(thrown));
    }
  }
}
