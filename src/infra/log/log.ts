import type { Logger as PinoLogger } from 'pino';

/** The methods of pino that the project uses. Calls pass the fields first, then the message. */
export type Logger = Pick<
  PinoLogger,
  'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'isLevelEnabled'
>;

const nothing = (): void => undefined;

/** A logger without output: for tests, and for components that are created without a logger. */
export const silentLogger: Logger = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  isLevelEnabled: () => false,
};
