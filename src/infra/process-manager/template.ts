/** Templates of processes: JSON files with the fields that the process manager of the original writes. */
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import { parseDuration } from '../config/duration.ts';
import { defineError } from '../errors/errors.ts';
import { checkOptions, type ProcessOptions } from './process-options.ts';

export const ProcessTemplateError = defineError({
  name: 'ProcessTemplateError',
  code: 'CV_PROCESS_TEMPLATE',
  rejects: 'configuration',
  remedy: 'Correct the template or its name, and check the folder template-path.',
});

const optionsSchema = Type.Partial(
  Type.Object({
    args: Type.Array(Type.String()),
    out_writer: Type.Boolean(),
    err_writer: Type.Boolean(),
    restart: Type.Integer(),
    detach: Type.Boolean(),
    run_on_startup: Type.Boolean(),
    notify: Type.Boolean(),
    auto_terminate: Type.Boolean(),
    cpu_affinity_mask: Type.String(),
    cpu_affinity_list: Type.String(),
    cpu_affinity_delay: Type.String(),
  }),
);

const templateSchema = Type.Object({
  name: Type.String(),
  cmd: Type.String(),
  p_options: Type.Optional(optionsSchema),
});
export type ProcessTemplate = Static<typeof templateSchema>;

const MAX_NAME = 200;

/** A name is also that of a file. @throws ProcessTemplateError */
export function checkTemplateName(name: string): void {
  if (name === '' || name.length > MAX_NAME || /^\.|[/\\\p{Cc}]/u.test(name))
    throw new ProcessTemplateError('the name of a template has to be a file name', {
      where: JSON.stringify(name),
    });
}

/** @throws ProcessTemplateError */
export function parseTemplate(text: string, file: string): ProcessTemplate {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ProcessTemplateError('the template is not JSON', { where: file, cause });
  }
  const [error] = Value.Errors(templateSchema, value);
  if (error || !Value.Check(templateSchema, value))
    throw new ProcessTemplateError(`${error?.instancePath} ${error?.message}`, { where: file });
  templateOptions(value);
  return value;
}

/** @throws ProcessTemplateError, ProcessOptionError */
export function templateOptions({
  name,
  cmd,
  p_options: set = {},
}: ProcessTemplate): ProcessOptions {
  checkTemplateName(name);
  if (cmd === '') throw new ProcessTemplateError('the template has no command', { where: name });
  const { cpu_affinity_mask: mask, cpu_affinity_list: list, cpu_affinity_delay: delay } = set;
  const delayMs = delay ? parseDuration(delay) : 0;
  if (delayMs === undefined)
    throw new ProcessTemplateError(`cpu_affinity_delay is not a duration such as 5s: ${delay}`, {
      where: name,
    });
  const options: ProcessOptions = {
    ...(set.args && { args: set.args }),
    ...(set.restart && { restarts: set.restart }),
    ...(set.out_writer && { output: 'inherit' }),
    ...(set.err_writer && { errorOutput: 'inherit' }),
    ...(set.detach && { detach: true }),
    ...(set.notify && { notify: true }),
    ...(set.auto_terminate && { autoTerminate: true }),
    ...((mask || list) && {
      cpuAffinity: { ...(mask && { mask }), ...(list && { list }), delayMs },
    }),
  };
  checkOptions(name, options);
  return options;
}

/** Fields at their default are left out, as the original does. Variables are not part of a template. */
export function templateOf(
  name: string,
  command: string,
  options: ProcessOptions,
): ProcessTemplate {
  const { args = [], restarts, cpuAffinity = {} } = options;
  const { mask, list, delayMs } = cpuAffinity;
  return {
    name,
    cmd: command,
    p_options: {
      ...(args.length > 0 && { args: [...args] }),
      ...(options.output !== undefined && { out_writer: true }),
      ...(options.errorOutput !== undefined && { err_writer: true }),
      ...(restarts && { restart: restarts }),
      ...(options.detach && { detach: true }),
      ...(options.template?.runOnStartup && { run_on_startup: true }),
      ...(options.notify && { notify: true }),
      ...(options.autoTerminate && { auto_terminate: true }),
      ...(mask !== undefined && { cpu_affinity_mask: mask }),
      ...(list !== undefined && { cpu_affinity_list: list }),
      ...(delayMs && { cpu_affinity_delay: `${delayMs}ms` }),
    },
  };
}
