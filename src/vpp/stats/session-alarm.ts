/** Reports a table of sessions that is nearly full in the log, once until it has space again. */
import { defineError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';

/** Shares of the table. */
const ALARM = 0.9;
const END_OF_ALARM = 0.8;

export const SessionsNearlyFullError = defineError({
  name: 'SessionsNearlyFullError',
  code: 'CV_VPP_SESSIONS_NEARLY_FULL',
  remedy:
    'New connections are refused when the table is full. docs/troubleshooting.md, "VPP", says how to find the sender and how to limit it.',
});

export function isNearlyFull(sessions: number, limit: number): boolean {
  return limit > 0 && sessions >= ALARM * limit;
}

export class SessionAlarm {
  readonly #table: string;
  readonly #log: Logger;
  #isRaised = false;

  constructor(table: string, log: Logger) {
    this.#table = table;
    this.#log = log;
  }

  /** @param most who has most of the sessions, if that is known */
  update(sessions: number, limit: number, most = ''): void {
    if (sessions < END_OF_ALARM * limit) this.#isRaised = false;
    if (this.#isRaised || !isNearlyFull(sessions, limit)) return;
    this.#isRaised = true;
    const text = `${this.#table} has ${sessions} of ${limit} sessions${most && `; ${most}`}`;
    const err = new SessionsNearlyFullError(text, { where: this.#table });
    this.#log.warn({ err }, 'a session table of VPP is nearly full');
  }
}
