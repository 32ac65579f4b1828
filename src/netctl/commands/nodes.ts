/** `netctl nodes`: the nodes of the cluster and the state of their agents. */
import type { EncryptionDocument } from '#documents/encryption.ts';
import type { IpamDocument } from '#documents/ipam.ts';
import type { ProbeDocument } from '#documents/probes.ts';
import type {
  ClusterNode,
  Command,
  CommandContext,
  NodeReply,
  Table,
  TableRow,
} from '../command.ts';
import { failuresOf } from '../failures.ts';
import { originalTime } from '../output/original-time.ts';
import { isFullyEncrypted, protectionInWords } from '../output/protection.ts';
import { ifAnswered } from '../requests/missing.ts';
import { RequestError } from '../requests/request-failure.ts';

interface NodeStatus {
  readonly id: number | undefined;
  readonly name: string;
  readonly vppAddress: string;
  readonly state: string;
  /** Seconds since 1970. */
  readonly started: number | undefined;
  readonly version: string;
  readonly built: string;
  readonly commit: string;
  readonly encryption: EncryptionDocument | undefined;
  /** Names and errors of the components that are not OK. */
  readonly problems: readonly string[];
}

/** Of those below the table: as many as a screen has, and characters of each. */
const MAX_PROBLEMS = 8;
const MAX_PROBLEM = 200;

/** By their numbers. */
const states = ['INIT', 'OK', 'ERROR'];

export const nodes: Command = {
  name: 'nodes',
  summary: 'List the nodes of the cluster and the state of their agents',
  arguments: [],
  options: [],
  examples: ['nodes', 'nodes -o json', 'nodes --server 10.0.0.1 --server 10.0.0.2'],
  async run(context) {
    const all = await context.nodes();
    const { ProbeDocument } = await import('#documents/probes.ts');
    const { EncryptionDocument } = await import('#documents/encryption.ts');
    const replies = await context.askAll(all, async (node) => {
      const [status, encryption, ipam] = await Promise.all([
        // With 500, too: the agent has to be restarted, and the document says why.
        context.ask(node, 'liveness', ProbeDocument, [500]),
        // Agents of other programs and versions have no such route.
        ifAnswered(context.ask(node, 'contiv/v1/encryption', EncryptionDocument)),
        // With etcd as the source it is known.
        node.id === undefined ? identityOf(context, node) : undefined,
      ]);
      return statusOf(node, status, encryption, ipam);
    });
    context.output.list(tableOf(replies), documentOf(replies));
    if (context.output.format === 'table') warnOfProblems(context, replies);
    return context.explainFailures(replies);
  },
};

/**
 * ID, name and address of a node. An agent refuses them with status 500 while its node has no address: when it
 * starts, or waits for VPP or for a DHCP lease. Its state, which says so, must not be hidden then.
 */
async function identityOf(
  context: CommandContext,
  node: ClusterNode,
): Promise<IpamDocument | undefined> {
  const { IpamDocument } = await import('#documents/ipam.ts');
  try {
    return await context.ask(node, 'contiv/v1/ipam', IpamDocument);
  } catch (thrown) {
    if (thrown instanceof RequestError && thrown.failure.status === 500) return undefined;
    throw thrown;
  }
}

/** The column with the problems is wide. */
function warnOfProblems({ warn }: CommandContext, replies: readonly NodeReply<NodeStatus>[]): void {
  const problems = replies.flatMap(({ node, value }) =>
    (value?.problems ?? []).map((text) => `${node.name}: ${text}`),
  );
  const texts = problems.map((text) =>
    text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM)}…` : text,
  );
  for (const text of texts.slice(0, MAX_PROBLEMS)) warn(text);
  if (texts.length > 0) warn('  netctl nodes -o wide shows problems as a whole.');
}

function statusOf(
  node: ClusterNode,
  status: ProbeDocument,
  encryption: EncryptionDocument | undefined,
  ipam: IpamDocument | undefined,
): NodeStatus {
  const { state, start_time, build_version = '', build_date = '', commit_hash = '' } = status;
  return {
    id: node.id ?? ipam?.nodeId,
    name: node.name,
    vppAddress: node.vppAddress ?? ipam?.nodeIP.split('/')[0] ?? '',
    state: stateOf(state),
    started: start_time,
    version: build_version,
    built: build_date,
    commit: commit_hash,
    encryption,
    problems: Object.entries(status.PluginStatus).flatMap(([name, { state: its, error }]) =>
      stateOf(its) === 'OK' ? [] : [`${name}: ${error || stateOf(its)}`],
    ),
  };
}

/** The encoder of the agent leaves out zeros. */
function stateOf(state = 0): string {
  return states[state] ?? String(state);
}

function tableOf(replies: readonly NodeReply<NodeStatus>[]): Table {
  return {
    columns: [
      { title: 'ID', whenNarrow: 'keep' },
      { title: 'NODE-NAME' },
      { title: 'VPP-IP', whenNarrow: 'keep' },
      { title: 'HOST-IP', whenNarrow: 'keep' },
      { title: 'START-TIME' },
      { title: 'STATE', whenNarrow: 'keep' },
      { title: 'BUILD-VERSION' },
      { title: 'BUILD-DATE', whenNarrow: 'drop' },
      { title: 'ENCRYPTION', whenNarrow: 'drop' },
      { title: 'COMMIT', isWide: true },
      { title: 'PROBLEMS', isWide: true },
    ],
    rows: replies.map(rowOf),
  };
}

function rowOf({ node, value, failure }: NodeReply<NodeStatus>): TableRow {
  const { id, name, vppAddress = '' } = value ?? node;
  // A path would not fit, and is no address.
  const host = node.host ?? (node.socket === undefined ? '' : 'unix socket');
  const known = [String(id ?? ''), name, vppAddress, host];
  if (failure) return { cells: known, note: failure.text, color: 'red' };
  const { started, state, encryption, version, built, commit, problems } = value;
  const time = started === undefined ? '' : originalTime(started * 1000);
  const date = Number.isNaN(Date.parse(built)) ? built : originalTime(Date.parse(built));
  const isProtected = encryption?.isOn !== true || isFullyEncrypted(encryption);
  const color = state === 'OK' && isProtected ? undefined : 'yellow';
  return {
    cells: [
      ...known,
      time,
      state,
      version,
      date,
      encryptionText(encryption),
      commit,
      problems.join('; '),
    ],
    ...(color && { color }),
  };
}

function encryptionText(encryption: EncryptionDocument | undefined): string {
  if (encryption === undefined) return '';
  return encryption.isOn ? protectionInWords(encryption.otherNodes) : 'off';
}

function documentOf(replies: readonly NodeReply<NodeStatus>[]): unknown {
  return {
    nodes: replies.flatMap(({ node, value }) => {
      if (value === undefined) return [];
      const { id, name, vppAddress, started, encryption, ...status } = value;
      const startTime = started === undefined ? undefined : new Date(started * 1000).toISOString();
      return [{ id, name, vppAddress, host: node.host, startTime, encryption, ...status }];
    }),
    failures: failuresOf(replies),
  };
}
