import type { Logger as PinoLogger } from 'pino';

/** The methods of pino that the project uses. Calls pass the fields first, then the message. */
export type Logger = Pick<
  PinoLogger,
  'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'isLevelEnabled'
>;

/** A logger that others are made from: their lines have its name and level, and more fields. */
export interface NamedLogger extends Logger {
  /** The level is that of this moment: a later change of the named logger does not apply to the result. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

const nothing = (): void => undefined;

/** A logger without output: for tests, and for components that are created without a logger. */
export const silentLogger: NamedLogger = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  isLevelEnabled: () => false,
  child: () => silentLogger,
};
