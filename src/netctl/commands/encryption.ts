/** `netctl encryption`: the keys of WireGuard of nodes, and their sessions; replaces keys. */
import type { EncryptionDocument } from '#documents/encryption.ts';
import type { NodeList } from '#documents/nodes.ts';
import type { ClusterNode, Command, CommandContext, NodeReply, TableRow } from '../command.ts';
import { failureRows, failuresOf } from '../failures.ts';
import { originalTime } from '../output/original-time.ts';
import { askRoute, postRoute } from '../requests/missing.ts';

interface NodeEncryption extends EncryptionDocument {
  /** Other nodes by the way to them; those without a session are named. */
  readonly encrypted: number;
  readonly inClearText: readonly string[];
  readonly unreached: readonly string[];
}

export const encryption: Command = {
  name: 'encryption',
  summary: 'Show or replace the keys by which nodes encrypt for each other',
  arguments: [
    {
      name: 'node',
      description: 'names or addresses (default: all nodes)',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [{ name: 'replace-keys', description: 'replace both keys of each node' }],
  examples: ['encryption', 'encryption node-2 --replace-keys'],
  async run(context, { arguments: { node: names }, options }) {
    const nodes = await context.nodes(names);
    const replaces = options['replace-keys'] === true;
    const replies = await context.askAll(nodes, (node) => encryptionOf(context, node, replaces));
    context.output.list(
      {
        columns: [
          { title: 'NODE-NAME', whenNarrow: 'keep' },
          { title: 'INTERFACE' },
          { title: 'PUBLIC-KEY' },
          { title: 'MADE' },
          { title: 'STATE', whenNarrow: 'keep' },
          { title: 'OTHER NODES', whenNarrow: 'keep' },
        ],
        rows: [...replies.flatMap(rowsOf), ...failureRows(replies)],
      },
      {
        nodes: replies.flatMap(({ node, value }) => (value ? [{ ...value, name: node.name }] : [])),
        failures: failuresOf(replies),
      },
    );
    return context.explainFailures(replies);
  },
};

async function encryptionOf(
  context: CommandContext,
  node: ClusterNode,
  replaces: boolean,
): Promise<NodeEncryption> {
  const { EncryptionDocument } = await import('#documents/encryption.ts');
  const { NodeList } = await import('#documents/nodes.ts');
  const path = 'contiv/v1/encryption';
  const own = replaces
    ? await postRoute(context, node, `${path}/replace-keys`, {}, EncryptionDocument)
    : await askRoute(context, node, path, EncryptionDocument);
  return { ...own, ...waysOf(await askRoute(context, node, 'contiv/v1/nodes', NodeList)) };
}

function waysOf({ nodes }: NodeList): Omit<NodeEncryption, keyof EncryptionDocument> {
  const by = (...kinds: readonly string[]): string[] =>
    nodes.flatMap(({ name, link }) => (link && kinds.includes(link.kind) ? [name] : []));
  return {
    encrypted: by('wireguard').length,
    inClearText: by('tunnel', 'routes'),
    unreached: by('none'),
  };
}

function rowsOf({ node, value }: NodeReply<NodeEncryption>): TableRow[] {
  if (value === undefined) return [];
  const ways = waysInWords(value);
  const color = value.inClearText.length + value.unreached.length > 0 ? 'yellow' : undefined;
  const [problem] = [value.problem, value.isOn ? null : 'off'].filter((one) => one !== null);
  const rows = problem === undefined ? value.keys : [];
  if (rows.length === 0)
    return [{ cells: [node.name, '', '', '', problem ?? '', ways], color: 'yellow' }];
  return rows.map(({ interface: name, publicKey, made, state }) => ({
    cells: [node.name, name, publicKey, originalTime(Date.parse(made)), state, ways],
    ...(color && { color }),
  }));
}

function waysInWords({ encrypted, inClearText, unreached }: NodeEncryption): string {
  const parts = [
    `${encrypted} encrypted`,
    ...(inClearText.length > 0 ? [`in clear text: ${inClearText.join(', ')}`] : []),
    ...(unreached.length > 0 ? [`not reached: ${unreached.join(', ')}`] : []),
  ];
  return parts.join('; ');
}
