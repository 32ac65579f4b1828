import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';
import { problemText } from '#plugins/controller/problems.ts';

export const SocketProgramsOutdatedError = defineError({
  name: 'SocketProgramsOutdatedError',
  code: 'CV_SOCKET_PROGRAMS_OUTDATED',
  unavailable: 'environment',
  remedy:
    'Sockets of this node reach the backends that services had before the upgrade. The agent tries again after each event. If the problem stays, restart the agent; with disableSocketServices VPP has all services.',
});

export interface ResyncedTableDeps {
  readonly table: Pick<SocketTable, 'resynced'>;
  readonly log: Logger;
}

/**
 * Reports to the kernel's table of services each resync whose transaction was executed. Values of it that failed do not
 * matter: they are retried, while the table of an earlier release, which the first resync replaces, gets no change at all. A
 * resync that was aborted has written nothing.
 */
export class ResyncedTable {
  readonly #deps: ResyncedTableDeps;
  /** A resync was not reported, or in vain. */
  #isDue = false;
  #fault: string | undefined;

  constructor(deps: ResyncedTableDeps) {
    this.#deps = deps;
  }

  /** Why programs of an earlier release still run; undefined: they do not, or the table is not filled yet. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** After each event; the following ones repeat what failed. */
  async observe({
    method,
    transaction,
  }: Pick<EventRecord, 'method' | 'transaction'>): Promise<void> {
    this.#isDue ||= method !== EventMethod.Update && transaction !== undefined;
    if (!this.#isDue) return;
    this.#isDue = false;
    const { table, log } = this.#deps;
    try {
      await table.resynced();
      this.#fault = undefined;
    } catch (cause) {
      this.#isDue = true;
      const error = new SocketProgramsOutdatedError(
        `programs of an earlier release still translate: ${errorText(cause)}`,
        { cause },
      );
      const fault = problemText(error);
      if (fault !== this.#fault)
        log.error(
          { error: errorText(error), remedy: error.remedy },
          'cannot replace programs of sockets',
        );
      this.#fault = fault;
    }
  }
}
