/**
 * `contiv-agent report`: packs what explains the state of a node into one archive. A part that cannot be
 * read is named in `manifest.json`, and does not keep the others out.
 */
import { createReadStream, globSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Value from 'typebox/value';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { errorText } from '#infra/errors/errors.ts';
import { httpSchema } from '#infra/http/config.ts';
import type { BuildInfo } from '#infra/status/status.ts';
import { ReportArchive, ReportError } from '#infra/support-bundle/archive.ts';
import {
  CONTAINER_LOGS,
  commandFile,
  documents,
  logFiles,
  RECORDING_BYTES,
  vppCommands,
} from '#infra/support-bundle/contents.ts';
import { Secrets } from '#infra/support-bundle/secrets.ts';
import { RECORDING_FILE_NAME } from '#plugins/controller/recording/recording-file.ts';
import { govppSchema } from '#vpp/config.ts';
import type { AgentFlags } from '../flags.ts';
import { readSettings, type Settings } from '../settings.ts';
import { getStream } from './agent-requests.ts';
import { configurationFiles, effectiveSettings, invalidText } from './configuration.ts';
import { openVppCli, type VppCli } from './vpp-cli.ts';

/** Limits of a part, and of a log. */
const PART_BYTES = 64 << 20;
const LOG_BYTES = 16 << 20;
/** Limits of all parts, and of one. */
const REPORT_MS = 300_000;
const PART_MS = 30_000;

const httpDefaults = Value.Create(httpSchema);
const govppDefaults = Value.Create(govppSchema);

export interface ReportDeps {
  readonly flags: AgentFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly build: BuildInfo;
  /** Stops the report; nothing is left of the archive. */
  readonly ended: Promise<string>;
}

/** One file of the archive, or the reason why there is none. */
interface ManifestEntry {
  readonly file: string;
  /** The route, command or path that it was read from. */
  readonly source: string;
  readonly bytes: number;
  /** The source has more. */
  readonly truncated?: true;
  readonly error?: string;
}

/**
 * @param path of the archive; empty: named after node and time, in the working directory
 * @throws ReportError
 */
export async function report(
  path: string,
  deps: ReportDeps,
  print: (text: string) => void,
): Promise<void> {
  const { clock } = deps;
  const now = clock.now();
  const settings = settingsOf(deps);
  const label = settings instanceof Error ? 'node' : settings.label;
  const name = `contiv-report-${label.replaceAll(/[^\w.-]/g, '_')}-${rfc3339(now).replaceAll(':', '-')}.tar.gz`;
  const target = path || name;
  const limit = new AbortController();
  const timer = clock.timer(REPORT_MS, () =>
    limit.abort(new Error('the time limit of the report was reached')),
  );
  const archive = await ReportArchive.create(target, new Date(now), deps.random);
  const stopped = deps.ended.then((signal) => {
    limit.abort(new Error(`stopped by ${signal}`));
    throw new ReportError(`stopped by ${signal}`, { where: target });
  });
  try {
    const collector = new Collector(archive, settings, deps, limit.signal);
    await Promise.race([collector.collect(), stopped]);
    const { entries } = collector;
    const { version } = deps.build;
    const head = { format: 1, created: rfc3339(now), node: label, version, kernel: release() };
    const manifest = { ...head, nodejs: process.version, parts: entries };
    const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
    await archive.finish('manifest.json', collector.secrets.masked(text));
    print(collector.secrets.masked(summary(target, entries)));
  } catch (error) {
    limit.abort(error);
    await archive.discard();
    throw error;
  } finally {
    timer.cancel();
  }
}

/** Without a valid configuration the report has what its defaults find. */
function settingsOf({ flags, env }: ReportDeps): Settings | Error {
  try {
    return readSettings(flags, env);
  } catch (error) {
    return error as Error;
  }
}

function summary(path: string, entries: readonly ManifestEntry[]): string {
  const missing = entries.filter(({ error }) => error !== undefined);
  const lines = [
    `${path}: ${entries.length - missing.length} of ${entries.length} parts`,
    ...missing.map(({ file, error }) => `  not complete: ${file}: ${error}`),
  ];
  return `${lines.join('\n')}\n`;
}

class Collector {
  readonly entries: ManifestEntry[] = [];
  readonly #archive: ReportArchive;
  readonly #settings: Settings | Error;
  readonly #deps: ReportDeps;
  readonly #signal: AbortSignal;
  readonly secrets = new Secrets();

  constructor(
    archive: ReportArchive,
    settings: Settings | Error,
    deps: ReportDeps,
    signal: AbortSignal,
  ) {
    this.#archive = archive;
    this.#settings = settings;
    this.#deps = deps;
    this.#signal = signal;
  }

  /** The configuration first: it says which secrets the other parts must not have. */
  async collect(): Promise<void> {
    await this.#configuration();
    const settings = this.#settings instanceof Error ? undefined : this.#settings;
    const agentSocket = settings?.http['local-socket'] ?? httpDefaults['local-socket'];
    const vppSocket = settings?.govpp['binapi-socket-path'] ?? govppDefaults['binapi-socket-path'];
    await this.#documents(agentSocket);
    // That of an embedded agent is simulated, whatever else runs on the machine.
    await this.#vpp(settings?.embedded ? '' : vppSocket, agentSocket);
    await this.#logs();
    const folder = settings?.controller['record-run'];
    if (folder) await this.#recordings(folder);
  }

  async #configuration(): Promise<void> {
    const { flags, env } = this.#deps;
    const settings = this.#settings;
    for (const { name, text, error } of configurationFiles(flags, env, this.secrets)) {
      const file = `configuration/${name}`;
      if (text === undefined) this.#missing(file, name, error);
      else await this.#text(file, name, () => Promise.resolve(text));
    }
    const file = 'configuration/effective.json';
    await this.#text(file, 'flags, variables and files', () => {
      if (settings instanceof Error)
        return Promise.reject(new Error(invalidText(settings, 'configuration')));
      return Promise.resolve(effectiveSettings(settings, this.secrets));
    });
  }

  /** If the first one fails the agent is not there, or hangs: the others are not tried. */
  async #documents(socket: string): Promise<void> {
    let isReached = false;
    let failure: string | undefined;
    for (const [file, route] of Object.entries(documents)) {
      if (failure !== undefined && !isReached) {
        this.#missing(file, route, failure);
        continue;
      }
      const read = (signal: AbortSignal) => getStream(socket, route, signal, this.#deps.clock);
      failure = await this.#stream(file, route, PART_BYTES, read);
      isReached ||= failure === undefined;
    }
  }

  async #vpp(vppSocket: string, agentSocket: string): Promise<void> {
    let cli: VppCli | undefined;
    let failure: string | undefined;
    try {
      const { clock, random } = this.#deps;
      const sockets = { vppSocket, agentSocket };
      cli = await openVppCli({ ...sockets, clock, random }, this.#signal);
    } catch (error) {
      failure = errorText(error);
    }
    for (const command of vppCommands) {
      const file = commandFile(command);
      if (cli === undefined || !cli.isAvailable()) this.#missing(file, command, failure);
      else failure = await this.#text(file, command, (signal) => cli.run(command, signal));
    }
    await cli?.close();
  }

  async #logs(): Promise<void> {
    for (const path of [...logFiles, ...globSync(CONTAINER_LOGS)]) {
      const size = await stat(path).then(
        ({ size }) => size,
        () => undefined,
      );
      if (size === undefined) continue;
      const start = Math.max(0, size - LOG_BYTES);
      await this.#file(`logs/${path.slice(1).replaceAll('/', '-')}`, path, { start, size });
    }
  }

  /** The newest first, whole: a replay needs the begin of a recording. */
  async #recordings(folder: string): Promise<void> {
    let left = RECORDING_BYTES;
    let names: string[];
    try {
      names = (await readdir(folder)).filter((name) => RECORDING_FILE_NAME.test(name)).sort();
    } catch (error) {
      this.#missing('recording', folder, errorText(error));
      return;
    }
    for (const name of names.reverse()) {
      const path = join(folder, name);
      const file = `recording/${name}`;
      const size = await stat(path).then(
        ({ size }) => size,
        (error: unknown) => errorText(error),
      );
      // The agent removes old recordings.
      if (typeof size === 'string') {
        this.#missing(file, path, size);
        continue;
      }
      if (size > left)
        this.#missing(file, path, `larger than what is left of ${RECORDING_BYTES} bytes`);
      else await this.#file(file, path, { start: 0, size });
      left -= Math.min(left, size);
    }
  }

  /** The part of a file that exists now: it may grow meanwhile. */
  async #file(
    file: string,
    path: string,
    { start, size }: { readonly start: number; readonly size: number },
  ): Promise<void> {
    const read = () =>
      Promise.resolve(
        size === 0 ? Readable.from([]) : createReadStream(path, { start, end: size - 1 }),
      );
    await this.#stream(file, path, size, read, start > 0);
  }

  async #text(
    file: string,
    source: string,
    read: (signal: AbortSignal) => Promise<string>,
  ): Promise<string | undefined> {
    return await this.#stream(file, source, PART_BYTES, async (signal) =>
      Readable.from([Buffer.from(await read(signal))]),
    );
  }

  /** @returns the error of the source, which is in the manifest @throws ReportError */
  async #stream(
    file: string,
    source: string,
    maxBytes: number,
    read: (signal: AbortSignal) => Promise<Readable>,
    isEnd = false,
  ): Promise<string | undefined> {
    const limit = new AbortController();
    const timer = this.#deps.clock.timer(PART_MS, () =>
      limit.abort(new Error(`no complete reply in ${PART_MS / 1000} s`)),
    );
    const signal = AbortSignal.any([limit.signal, this.#signal]);
    try {
      signal.throwIfAborted();
      const stream = await read(signal);
      const options = { maxBytes, mask: this.secrets.mask(), signal };
      const { bytes, isTruncated, error } = await this.#archive.add(file, stream, options);
      this.entries.push({
        file,
        source,
        bytes,
        ...((isTruncated || isEnd) && { truncated: true }),
        ...(error !== undefined && { error }),
      });
      return error;
    } catch (error) {
      if (error instanceof ReportError) throw error;
      return this.#missing(file, source, errorText(signal.aborted ? signal.reason : error));
    } finally {
      timer.cancel();
    }
  }

  #missing(file: string, source: string, error = 'not available'): string {
    this.entries.push({ file, source, bytes: 0, error });
    return error;
  }
}
