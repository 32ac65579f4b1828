import type { Logger as PinoLogger } from 'pino';

/** The part of pino that the project uses. Fields first, then the sentence. */
export type Logger = Pick<
  PinoLogger,
  'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'isLevelEnabled'
>;

const nothing = (): void => undefined;

/** A logger that says nothing: for tests and for parts that are made without one. */
export const silentLogger: Logger = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  isLevelEnabled: () => false,
};
