/** `netctl vppdump`: values as an agent reads them from VPP and Linux. */
import type { Command } from '../command.ts';
import { fieldsOf, itemsOf, textOf } from '../document-fields.ts';
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
    const replies = await context.askAll(nodes, async (node) => {
      if (descriptors.length === 0) return [await context.ask(node, 'scheduler/dump')];
      const paths = descriptors.map(
        (name) => `scheduler/dump?state=SB&descriptor=${encodeURIComponent(name)}`,
      );
      return await Promise.all(paths.map((path) => context.ask(node, path)));
    });
    const [documents] = replies.flatMap(({ value }) => (value ? [value] : []));
    if (documents && descriptors.length === 0) {
      const all = itemsOf(fieldsOf(documents[0])['Descriptors']).map(textOf);
      context.output.list(
        { columns: [{ title: 'DESCRIPTOR' }], rows: all.map((one) => ({ cells: [one] })) },
        { descriptors: all },
      );
    } else if (documents === undefined) showFailures(context, replies);
    else if (documents.length === 1) context.output.document(documents[0]);
    else
      context.output.document(
        Object.fromEntries(descriptors.map((name, place) => [name, documents[place]])),
      );
    return context.explainFailures(replies);
  },
};
