/** `netctl vppcli`: a command of VPP's own command line. */
import type { ClusterNode, Command, CommandContext } from '../command.ts';
import { isForPeople, showFailures } from '../failures.ts';
import { RequestError } from '../requests/request-failure.ts';

const REMEDY =
  'Commands of VPP can change its state, so an agent runs them on its unix socket only: run netctl as root on this node, or in its pod (kubectl -n kube-system exec POD -c contiv-agent -- netctl vppcli NODE …). With open-mutating-routes and users in http.conf of the agent, --user works from everywhere.';

/** VPP 26.06 leaves requests that arrive meanwhile unanswered until the next one. */
const PING_WARNING =
  'ping of VPP over the agent keeps requests of the agent waiting, and the agent may disconnect. netctl check NODE probes the other nodes without this.';

export const vppcli: Command = {
  name: 'vppcli',
  summary: 'Run a command of the command line of VPP on a node',
  arguments: [
    { name: 'node', description: 'name or address', completes: 'nodes' },
    { name: 'command', description: 'words of the command', isVariadic: true },
  ],
  options: [],
  examples: ['vppcli k8s-master show interface addr', 'vppcli k8s-master show errors'],
  passesOptionsOn: true,
  async run(context, { arguments: { node: names = [], command: words = [] } }) {
    const nodes = await context.nodes(names);
    const command = words.join(' ');
    if (words[0] === 'ping') context.warn(PING_WARNING);
    const replies = await context.askAll(nodes, (node) => outputOf(context, node, command));
    for (const { node, value } of replies) {
      if (value === undefined) showFailures(context, replies);
      else if (!isForPeople(context))
        context.output.document({ node: node.name, command, output: value });
      else context.output.text(value);
    }
    return context.explainFailures(replies);
  },
};

/** The outputs that everyone may read come from GET /vpp/telemetry, where commands are refused. */
async function outputOf(
  context: CommandContext,
  node: ClusterNode,
  command: string,
): Promise<string> {
  const { CommandOutput } = await import('#documents/original.ts');
  const { CommandOutputs } = await import('#documents/telemetry.ts');
  try {
    return await context.post(node, 'vpp/command', { vppclicommand: command }, CommandOutput);
  } catch (refused) {
    if (!(refused instanceof RequestError) || refused.failure.reason !== 'forbidden') throw refused;
    const isShow = command.startsWith('show ');
    const outputs = isShow
      ? await context.ask(node, 'vpp/telemetry', CommandOutputs).catch(() => [])
      : [];
    const found = outputs.find(({ Command }) => Command === command);
    if (found === undefined)
      throw new RequestError({ ...refused.failure, remedy: REMEDY }, { where: node.name });
    return found.Output;
  }
}
