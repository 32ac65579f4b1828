/** `netctl undeploy`: takes what the agent has configured and stored off this node. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { defineError } from '#infra/errors/errors.ts';
import { isUnanswered } from '#infra/process/socket.ts';
import { cniFolders, OWN_CONFIGURATION, OWN_PROGRAM } from '../check/cni-folders.ts';
import { HostFiles } from '../check/host-files.ts';
import { type Command, type CommandContext, type CommandInput, ExitCode } from '../command.ts';
import { isForPeople } from '../failures.ts';

export const UndeployRefusedError = defineError({
  name: 'UndeployRefusedError',
  code: 'CV_NETCTL_UNDEPLOY',
  rejects: 'configuration',
  remedy:
    'netctl undeploy --dry-run lists what it would do. docs/install.md says how the agent is kept from running.',
});

const RUNNING =
  'the agent of this node runs, or only root may see that it does not: stop it first, because it would configure the node again';

/** The part of its context that the command uses. */
export type UndeployContext = Pick<
  CommandContext,
  'localSocket' | 'output' | 'warn' | 'progress' | 'confirm' | 'runAgent'
>;

interface Step {
  /** For people. */
  readonly what: string;
  readonly state: string;
  /** @returns whether nothing is left to do */
  run(): Promise<boolean>;
}

export const undeploy: Command = {
  name: 'undeploy',
  summary: 'Remove what the agent has configured and stored on this node',
  arguments: [],
  options: [
    { name: 'dry-run', description: 'only list what would be removed' },
    { name: 'yes', description: 'do not ask' },
    {
      name: 'config-dir',
      value: 'folder',
      description: 'configuration of the agent',
      completes: 'files',
    },
    { name: 'microservice-label', value: 'name', description: 'label of the agent' },
  ],
  examples: ['undeploy --dry-run', 'undeploy --config-dir /etc/contiv --microservice-label node1'],
  run: async (context, input) => await undeployFrom('/', context, input),
};

/** @param root the folder that stands for `/` in the files of this machine */
export async function undeployFrom(
  root: string,
  context: UndeployContext,
  { options }: Pick<CommandInput, 'options'>,
): Promise<ExitCode> {
  const isRunning = !(await isUnanswered(context.localSocket));
  const steps = stepsOf(root, context, agentArguments(options), isRunning);
  const isDryRun = options['dry-run'] === true;
  if (isRunning && !isDryRun) throw new UndeployRefusedError(RUNNING);
  if (isDryRun || isForPeople(context))
    context.output.list(
      {
        columns: [{ title: 'STEP', isRightAligned: true }, { title: 'REMOVES' }, { title: 'NOW' }],
        rows: steps.map(({ what, state }, at) => ({ cells: [String(at + 1), what, state] })),
      },
      { agentRuns: isRunning, steps: steps.map(({ what, state }) => ({ what, state })) },
    );
  if (isDryRun) {
    if (isRunning) context.warn(RUNNING);
    return ExitCode.Success;
  }
  await assertAgreed(context, options);
  for (const { what, run } of steps) {
    context.progress(`removing ${what}`);
    if (await run()) continue;
    context.warn(`${what}: not removed. Correct the cause and run netctl undeploy again.`);
    return ExitCode.Failure;
  }
  context.progress('');
  context.warn('Done. Pods that are attached have no network; drain the node, or restart them.');
  return ExitCode.Success;
}

async function assertAgreed(
  context: UndeployContext,
  options: CommandInput['options'],
): Promise<void> {
  if (options['yes'] === true) return;
  const isAgreed = await context.confirm('Pods of this node lose their network. Continue?');
  if (isAgreed === undefined)
    throw new UndeployRefusedError('there is no terminal to ask on: --yes agrees');
  if (!isAgreed) throw new UndeployRefusedError('nothing was changed, as you said');
}

/** As the flags of contiv-agent, which has the same names. */
function agentArguments(options: CommandInput['options']): readonly string[] {
  return ['config-dir', 'microservice-label'].flatMap((name) => {
    const value = options[name];
    return typeof value === 'string' ? [`--${name}`, value] : [];
  });
}

/** In this order: first nothing calls the agent any more, and what needs its records comes before these. */
function stepsOf(
  root: string,
  context: UndeployContext,
  agentFlags: readonly string[],
  isRunning: boolean,
): readonly Step[] {
  const files = new HostFiles(root);
  const { bin, config } = cniFolders(files);
  const file = (path: string): Step => ({
    what: path,
    state: files.has(path) ? 'exists' : 'not there',
    async run() {
      rmSync(join(root, path), { force: true });
      return true;
    },
  });
  return [
    file(`${config}/${OWN_CONFIGURATION}`),
    {
      what: 'values in VPP and Linux, and the records of the agent',
      state: isRunning ? 'the agent runs' : 'by contiv-agent undeploy',
      run: async () => (await context.runAgent(['undeploy', ...agentFlags])) === 0,
    },
    file(`${bin}/${OWN_PROGRAM}`),
  ];
}
