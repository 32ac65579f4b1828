import { type Static, Type } from 'typebox';
import { Duration } from '../config/duration.ts';

/** The original's files have it with and without quotes. */
function CpuMask(description: string) {
  return Type.Union([Type.String(), Type.Integer({ minimum: 0 })], { default: '', description });
}

/** `supervisor.conf`: programs that are started and watched, for a program that uses the supervisor. */
export const supervisorSchema = Type.Object({
  'sv-cpu-affinity-mask': CpuMask(
    'CPUs of the supervisor itself, as `taskset` takes them: hexadecimal; empty: all.',
  ),
  programs: Type.Array(
    Type.Object({
      name: Type.String({
        default: '',
        description: 'Name of the program; default: that of its file.',
      }),
      'executable-path': Type.String({ minLength: 1, description: 'Path of the program.' }),
      'executable-args': Type.Array(Type.String(), { default: [], description: 'Arguments.' }),
      'logfile-path': Type.String({
        default: '',
        description: 'File to which the output is appended; empty: it is discarded.',
      }),
      restarts: Type.Integer({
        minimum: -1,
        default: 0,
        description: 'Number of automatic restarts; -1: without limit.',
      }),
      'cpu-affinity-mask': CpuMask('CPUs of the program, hexadecimal; empty: all.'),
      'cpu-affinity-list': Type.String({
        default: '',
        description: 'CPUs of the program as a list such as 0-2,6; overrides the mask.',
      }),
      'cpu-affinity-setup-delay': Duration({
        default: 0,
        description: 'Time between the start of the program and the change of its CPUs.',
      }),
    }),
    { default: [], description: 'Programs, which are started in this order; at least one.' },
  ),
  hooks: Type.Array(
    Type.Object({
      cmd: Type.String({ minLength: 1, description: 'Command of the hook.' }),
      'cmd-args': Type.Array(Type.String(), { default: [], description: 'Arguments of the hook.' }),
    }),
    {
      default: [],
      description:
        'Commands that run one after the other for each change of the status of a program; SUPERVISOR_PROCESS_NAME, SUPERVISOR_PROCESS_STATE and SUPERVISOR_EVENT_TYPE describe it.',
    },
  ),
});
export type SupervisorConfig = Static<typeof supervisorSchema>;
export type SupervisedProgram = SupervisorConfig['programs'][number];
