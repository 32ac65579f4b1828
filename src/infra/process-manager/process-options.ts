import type { Writable } from 'node:stream';
import { defineError } from '../errors/errors.ts';

/**
 * The target of an output stream of a process: that of this program, a file to which it is appended, or
 * a stream. A detached process that outlives this one needs a file: it gets SIGPIPE otherwise.
 */
export type ProcessOutput = 'inherit' | { readonly file: string } | Writable;

export interface CpuAffinity {
  /** As `taskset -p` takes it: hexadecimal. */
  readonly mask?: string;
  /** As `taskset -pc` takes it: `0-2,6`. If both are set, the list takes effect. */
  readonly list?: string;
  /** Time between the start and the change, because some programs set their own; default: none. */
  readonly delayMs?: number;
}

export interface ProcessOptions {
  readonly args?: readonly string[];
  /** Automatic restarts after a start, when the process ends without having been stopped; -1: without limit. */
  readonly restarts?: number;
  /** Default: discarded. */
  readonly output?: ProcessOutput;
  /** Of the standard error; default: discarded. */
  readonly errorOutput?: ProcessOutput;
  /** The process is in a session of its own, and continues when this one ends. */
  readonly detach?: boolean;
  /** Default: the variables of this program. */
  readonly env?: Readonly<Record<string, string>>;
  /** Write a template when the process is created. A process of the template has the name of the template. */
  readonly template?: { readonly name: string; readonly runOnStartup: boolean };
  /** Changes of the state are reported to `notifications`. */
  readonly notify?: boolean;
  /** A zombie counts as terminated. Only for attached processes: children are always released. */
  readonly autoTerminate?: boolean;
  readonly cpuAffinity?: CpuAffinity;
}

export const ProcessOptionError = defineError({
  name: 'ProcessOptionError',
  code: 'CV_PROCESS_OPTION',
  rejects: 'configuration',
  remedy: 'Correct the option of the process, or its template.',
});

const UNLIMITED = -1;

/** @throws ProcessOptionError */
export function checkOptions(
  name: string,
  { restarts = 0, cpuAffinity = {} }: ProcessOptions,
): void {
  const { mask, list, delayMs = 0 } = cpuAffinity;
  const refuse = (text: string): never => {
    throw new ProcessOptionError(text, { where: name });
  };
  if (!Number.isInteger(restarts) || restarts < UNLIMITED)
    refuse(`the number of restarts has to be -1 or more: ${restarts}`);
  if (mask !== undefined && !/^(0x)?[0-9a-f]+(,[0-9a-f]+)*$/i.test(mask))
    refuse(`the CPU mask is not hexadecimal: ${mask}`);
  if (list !== undefined && !/^\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*$/.test(list))
    refuse(`the CPU list is not such as 0-2,6: ${list}`);
  if (!(delayMs >= 0)) refuse(`the delay of the CPU affinity is invalid: ${delayMs}`);
}
