/** Named loggers over one pino stream, each with a level that can be changed at run time. */
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { type Static, Type } from 'typebox';
import { defineError } from '../errors/errors.ts';
import { json, type Route } from '../http/route.ts';
import type { NamedLogger } from './log.ts';
import { RecentLines } from './recent-lines.ts';

export const LogLevelError = defineError({
  name: 'LogLevelError',
  code: 'CV_LOG_LEVEL',
  status: 400,
  rejects: 'configuration',
  remedy: 'Use one of trace, debug, info, warning, error, fatal, panic.',
});

export const UnknownLoggerError = defineError({
  name: 'UnknownLoggerError',
  code: 'CV_LOG_UNKNOWN_LOGGER',
  status: 404,
  remedy: 'Use a name that GET /log/list shows.',
});

/** Level names of the Go agent, mapped to those of pino. */
const levels: ReadonlyMap<string, string> = new Map([
  ['panic', 'fatal'],
  ['fatal', 'fatal'],
  ['error', 'error'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['info', 'info'],
  ['debug', 'debug'],
  ['trace', 'trace'],
]);

function pinoLevel(level: string, where?: string): string {
  const known = levels.get(level.toLowerCase());
  if (known === undefined) throw new LogLevelError(`unknown log level "${level}"`, { where });
  return known;
}

function Level(options: { default?: string; description: string }) {
  return Type.Refine(
    Type.String(options),
    (level) => levels.has(level.toLowerCase()),
    () => 'has to be trace, debug, info, warning, error, fatal or panic',
  );
}

/** `logs.conf`. */
export const logsSchema = Type.Object({
  'default-level': Level({
    default: 'info',
    description: 'trace, debug, info, warning, error, fatal or panic.',
  }),
  loggers: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the logger, as in /log/list.' }),
      level: Level({ description: 'Level of the logger; values as for default-level.' }),
    }),
    { default: [], description: 'Levels of individual loggers.' },
  ),
});
export type LogsConfig = Static<typeof logsSchema>;

/** Spelling of a level in `/log/list`. */
function goLevel(level: string): string {
  return level === 'warn' ? 'warning' : level;
}

export class Loggers {
  /** Of all loggers. */
  readonly recent = new RecentLines();
  readonly #root: PinoLogger;
  readonly #children = new Map<string, PinoLogger>();
  /** Levels of the configuration, by name. */
  readonly #levels = new Map<string, string>();

  /**
   * @param initial `INITIAL_LOGLVL`: overrides the default level, not those of individual loggers
   * @throws LogLevelError
   */
  constructor(config: LogsConfig, initial: string | undefined, stream: DestinationStream) {
    const options = {
      level: initial ? pinoLevel(initial, 'INITIAL_LOGLVL') : pinoLevel(config['default-level']),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      base: null,
    };
    this.#root = pino(options, {
      write: (line) => {
        this.recent.add(line);
        stream.write(line);
      },
    });
    for (const { name, level } of config.loggers) this.#levels.set(name, pinoLevel(level));
  }

  get(name: string): NamedLogger {
    let child = this.#children.get(name);
    if (!child) {
      child = this.#root.child({ logger: name });
      child.level = this.#levels.get(name) ?? this.#root.level;
      this.#children.set(name, child);
    }
    return child;
  }

  list(): { logger: string; level: string }[] {
    return [...this.#children]
      .map(([logger, child]) => ({ logger, level: goLevel(child.level) }))
      .sort((a, b) => (a.logger < b.logger ? -1 : 1));
  }

  /** Names in the configuration of which there is no logger yet. */
  get unusedNames(): string[] {
    return [...this.#levels.keys()].filter((name) => !this.#children.has(name));
  }

  /** @throws LogLevelError, UnknownLoggerError */
  setLevel(name: string, level: string): void {
    const child = this.#children.get(name);
    if (!child) throw new UnknownLoggerError(`no logger has the name ${JSON.stringify(name)}`);
    child.level = pinoLevel(level);
  }
}

/** REST routes of the log manager. */
export function logRoutes(loggers: Loggers): Route[] {
  return [
    {
      method: 'GET',
      path: '/log/list',
      mutating: false,
      summary: 'list all loggers with their levels',
      reply: Type.Array(Type.Object({ logger: Type.String(), level: Type.String() })),
      handle: () => json(loggers.list()),
    },
    {
      method: 'PUT',
      path: '/log/:logger/:level',
      mutating: true,
      summary: 'set the level of a logger: trace, debug, info, warning, error, fatal or panic',
      reply: Type.Object({ logger: Type.String(), level: Type.String() }),
      handle: ({ params }) => {
        const { logger = '', level = '' } = params;
        loggers.setLevel(logger, level);
        return json({ logger, level });
      },
    },
    {
      method: 'GET',
      path: '/log/recent',
      // Changes nothing, but log lines are not for everyone who can reach the port.
      mutating: true,
      summary: 'the last log lines, up to 1 MiB, as text',
      replyTypes: ['text/plain'],
      handle: () => ({ status: 200, body: loggers.recent.text(), contentType: 'text/plain' }),
    },
  ];
}
