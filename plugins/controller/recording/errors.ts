import { CodedError, defineError, errorClass } from '#infra/errors/errors.ts';
import type { RecordedError } from './recording-format.ts';

export const RecordingError = defineError({
  name: 'RecordingError',
  code: 'CV_RECORDING_UNREADABLE',
  rejects: 'configuration',
  remedy:
    'Specify a folder that record-run has written, and replay it with the build that wrote it.',
});

export const NotRecordedError = defineError({
  name: 'NotRecordedError',
  code: 'CV_RECORDING_NO_ANSWER',
  remedy: 'No action is needed: the replay differs from the recording, and the report shows where.',
});

/** An error whose class does not exist in this build. */
class ReplayedError extends CodedError {
  readonly code: string;
  readonly remedy = 'See the recording.';

  constructor(code: string) {
    super('');
    this.code = code;
  }
}

export function recordedError(thrown: unknown): RecordedError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  const { name, message } = thrown;
  if (!(thrown instanceof CodedError)) {
    const { syscall } = thrown as NodeJS.ErrnoException;
    return { name, message, ...(syscall !== undefined && { syscall }) };
  }
  const { code, where } = thrown;
  return { name, message, code, ...(where !== undefined && { where }) };
}

export function replayedError({ name, message, code, where, syscall }: RecordedError): Error {
  if (code === undefined)
    return Object.assign(new Error(message), { name, ...(syscall !== undefined && { syscall }) });
  const Class = errorClass(code);
  const error = Class ? new Class('') : new ReplayedError(code);
  return Object.assign(error, { name, message, where });
}
