/** `netctl vppdump`: values as an agent reads them from VPP and Linux. */
import type { Command, Table } from '../command.ts';
import { showFailures } from '../failures.ts';

export const vppdump: Command = {
  name: 'vppdump',
  summary: 'Print the values that a node has in VPP and Linux, by descriptor',
  arguments: [
    { name: 'node', description: 'name or address', completes: 'nodes' },
    {
      name: 'descriptor',
      description: 'kinds of values; without one, the descriptors are listed',
      isOptional: true,
      isVariadic: true,
      completes: 'descriptors',
    },
  ],
  options: [],
  examples: ['vppdump k8s-master', 'vppdump k8s-master vpp-interface vpp-route -o yaml'],
  async run(context, { arguments: { node: names = [], descriptor: descriptors = [] } }) {
    const nodes = await context.nodes(names);
    const { DumpIndex, DumpedValues } = await import('#documents/scheduler/dump.ts');
    if (descriptors.length === 0) {
      const replies = await context.askAll(nodes, (node) =>
        context.ask(node, 'scheduler/dump', DumpIndex),
      );
      const [index] = replies.flatMap(({ value }) => (value ? [value] : []));
      if (index) context.output.list(...listOf(index.Descriptors));
      else showFailures(context, replies);
      return context.explainFailures(replies);
    }
    const paths = descriptors.map(
      (name) => `scheduler/dump?state=SB&descriptor=${encodeURIComponent(name)}`,
    );
    const replies = await context.askAll(nodes, (node) =>
      Promise.all(paths.map((path) => context.ask(node, path, DumpedValues))),
    );
    const [documents] = replies.flatMap(({ value }) => (value ? [value] : []));
    if (documents === undefined) showFailures(context, replies);
    else if (documents.length === 1) context.output.document(documents[0]);
    else
      context.output.document(
        Object.fromEntries(descriptors.map((name, place) => [name, documents[place]])),
      );
    return context.explainFailures(replies);
  },
};

function listOf(descriptors: readonly string[]): [Table, object] {
  const rows = descriptors.map((one) => ({ cells: [one] }));
  return [{ columns: [{ title: 'DESCRIPTOR' }], rows }, { descriptors }];
}
