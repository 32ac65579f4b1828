import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { errorText } from '#infra/errors/errors.ts';
import { RecordingError } from './errors.ts';
import { RECORDING_FILE_NAME } from './recording-file.ts';
import {
  type AnswerLine,
  type CommitLine,
  type EndLine,
  type EventLine,
  FORMAT,
  type FollowUpLine,
  type HeaderLine,
  type Line,
  type ReadingsLine,
  type ResultLine,
} from './recording-format.ts';

/** All recorded lines of one event. */
export interface RecordedEvent {
  readonly event: EventLine;
  readonly answers: readonly AnswerLine[];
  readonly followUps: readonly FollowUpLine[];
  readonly readings: readonly ReadingsLine[];
  readonly commit: CommitLine | undefined;
  readonly result: ResultLine | undefined;
  readonly end: EndLine;
}

export interface Recording {
  readonly path: string;
  readonly header: HeaderLine;
  /** Events that were recorded completely. @throws RecordingError while reading */
  readonly events: AsyncIterable<RecordedEvent>;
  /** Known after the last event: why the recording ends early; undefined: the agent was stopped. */
  readonly ending: () => string | undefined;
}

/** Recordings in a folder, oldest first; the path of a file returns that file. @throws RecordingError */
export async function recordingFiles(path: string): Promise<string[]> {
  const names = await stat(path)
    .then((found) => (found.isDirectory() ? readdir(path) : undefined))
    .catch((cause) => {
      throw new RecordingError(errorText(cause), { where: path, cause });
    });
  if (!names) return [path];
  const files = names.filter((name) => RECORDING_FILE_NAME.test(name)).sort();
  if (files.length === 0)
    throw new RecordingError('the folder contains no recording', { where: path });
  return files.map((name) => join(path, name));
}

/** @throws RecordingError */
export async function readRecording(path: string): Promise<Recording> {
  const reader = new Reader(path);
  const lines = reader.lines();
  const { value: first, done } = await lines.next();
  if (done || first.t !== 'run' || !Number.isFinite(first.at))
    throw new RecordingError('the file is not a recording: its first line is invalid', {
      where: path,
    });
  if (first.format !== FORMAT)
    throw new RecordingError(
      `the recording has format ${first.format}, this build reads format ${FORMAT}`,
      {
        where: path,
      },
    );
  return { path, header: first, events: reader.events(lines), ending: () => reader.ending };
}

/** @throws SyntaxError */
function parsedLine(text: string): Line {
  const line: unknown = JSON.parse(text);
  if (typeof line !== 'object' || line === null) throw new SyntaxError('a line is no object');
  return line as Line;
}

interface PartialEvent {
  readonly event: EventLine;
  readonly answers: AnswerLine[];
  readonly followUps: FollowUpLine[];
  readonly readings: ReadingsLine[];
  commit: CommitLine | undefined;
  result: ResultLine | undefined;
}

class Reader {
  readonly #path: string;
  ending: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Only the last line may be truncated; otherwise the file is corrupted. */
  async *lines(): AsyncGenerator<Line, undefined, void> {
    const input = createReadStream(this.#path);
    const opened = new Promise<void>((resolve, reject) => {
      input.once('open', () => resolve());
      input.once('error', (cause) =>
        reject(new RecordingError(errorText(cause), { where: this.#path, cause })),
      );
    });
    await opened;
    let number = 0;
    let cut: unknown;
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (cut !== undefined)
        throw new RecordingError(`the recording is corrupted: ${errorText(cut)}`, {
          where: `${this.#path}:${number}`,
          cause: cut,
        });
      number++;
      let line: Line;
      try {
        line = parsedLine(text);
      } catch (thrown) {
        cut = thrown;
        continue;
      }
      yield line;
    }
    if (cut !== undefined) this.ending = 'its last line is truncated, for example after a kill';
    return undefined;
  }

  async *events(lines: AsyncIterable<Line>): AsyncGenerator<RecordedEvent, undefined, void> {
    let current: PartialEvent | undefined;
    for await (const line of lines) {
      if (line.t === 'stop') this.ending = line.reason;
      else if (line.t === 'event')
        current = {
          event: line,
          answers: [],
          followUps: [],
          readings: [],
          commit: undefined,
          result: undefined,
        };
      // A late answer to a handler that exceeded its time limit has no effect any more.
      else if (!current || line.t === 'run' || line.n !== current.event.n) continue;
      else if (line.t === 'answer') current.answers.push(line);
      else if (line.t === 'follow-up') current.followUps.push(line);
      else if (line.t === 'readings') current.readings.push(line);
      else if (line.t === 'commit') current.commit = line;
      else if (line.t === 'result') current.result = line;
      else {
        yield { ...current, end: line };
        current = undefined;
      }
    }
    if (current) this.ending ??= 'its last event is incomplete';
    return undefined;
  }
}
