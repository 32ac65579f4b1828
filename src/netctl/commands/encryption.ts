/** `netctl encryption`: the keys of WireGuard of nodes, and their sessions; replaces keys. */
import type { EncryptionDocument } from '#documents/encryption.ts';
import type { ClusterNode, Command, CommandContext, NodeReply, TableRow } from '../command.ts';
import { failureRows, failuresOf } from '../failures.ts';
import { originalTime } from '../output/original-time.ts';
import { isFullyEncrypted, protectionInWords } from '../output/protection.ts';
import { askRoute, postRoute } from '../requests/missing.ts';

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
): Promise<EncryptionDocument> {
  const { EncryptionDocument } = await import('#documents/encryption.ts');
  const path = 'contiv/v1/encryption';
  return replaces
    ? postRoute(context, node, `${path}/replace-keys`, {}, EncryptionDocument)
    : askRoute(context, node, path, EncryptionDocument);
}

function rowsOf({ node, value }: NodeReply<EncryptionDocument>): TableRow[] {
  if (value === undefined) return [];
  const { isOn, keys, otherNodes } = value;
  const others = isOn ? protectionInWords(otherNodes) : '';
  const color = isFullyEncrypted(value) ? undefined : 'yellow';
  const [problem] = [value.problem, isOn ? null : 'off'].filter((one) => one !== null);
  const rows = problem === undefined ? keys : [];
  if (rows.length === 0)
    return [{ cells: [node.name, '', '', '', problem ?? '', others], color: 'yellow' }];
  return rows.map(({ interface: name, publicKey, made, state }) => ({
    cells: [node.name, name, publicKey, originalTime(Date.parse(made)), state, others],
    ...(color && { color }),
  }));
}
