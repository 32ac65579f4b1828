/**
 * Leader election in the database: one candidate of an election leads at a time. A leader may lose its
 * leadership without noticing (its lease expires while the process is suspended), so its writes go through
 * `Leadership.putAll`: the database refuses them from the moment another one may lead.
 */
import { defineError } from '#infra/errors/errors.ts';

export interface Election {
  /**
   * Waits until this candidate leads. An unavailable database delays it.
   * @throws the reason of the signal when it is aborted; the candidate has then withdrawn
   */
  campaign(signal: AbortSignal): Promise<Leadership>;
}

export interface Leadership {
  /** Aborted when the leadership is lost, with LeadershipLostError as its reason; not by `resign`. */
  readonly lost: AbortSignal;
  /**
   * Writes all entries or none; `undefined` deletes. After a lost reply the outcome is unknown until the
   * next call: from then on the database refuses what may still be on its way.
   * @throws LeadershipLostError (nothing was written), StoreUnavailableError, StoreRefusedError
   */
  putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void>;
  /** Whether another candidate waits. @throws if the database does not answer */
  hasSuccessor(): Promise<boolean>;
  /** Ends the leadership, so that another candidate leads at once. Does not throw. */
  resign(): Promise<void>;
}

export const LeadershipLostError = defineError({
  name: 'LeadershipLostError',
  code: 'CV_STORE_LEADERSHIP_LOST',
  remedy: 'None: another instance leads, or this one does again when the database answers.',
});
