/** `netctl ipam`: the subnets that nodes have. */
import type { Command, NodeReply, Table, TableRow } from '../command.ts';
import { fieldsOf, itemsOf, numberOf, textOf } from '../document-fields.ts';
import { failuresOf } from '../failures.ts';

interface NodeSubnets {
  readonly id: number | undefined;
  readonly name: string;
  readonly vppAddress: string;
  /** Of the interface that routes to the other nodes; empty: there is none. */
  readonly bviAddress: string;
  readonly podSubnet: string;
  readonly vppHostNetwork: string;
  readonly podClusterSubnet: string;
}

/** The name that plugins/ipv4net gives it, as the original did. */
const BVI = 'vxlanBVI';

export const ipam: Command = {
  name: 'ipam',
  summary: 'List the subnets of the nodes',
  arguments: [
    {
      name: 'node',
      description: 'names or addresses; all nodes without one',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [],
  examples: ['ipam', 'ipam k8s-master'],
  async run(context, input) {
    const nodes = await context.nodes(input.arguments['node']);
    const replies = await context.askAll(nodes, async (node) => {
      const path = 'scheduler/dump?state=SB&descriptor=vpp-interface';
      const [own, interfaces] = await Promise.all([
        context.ask(node, 'contiv/v1/ipam'),
        context.ask(node, path),
      ]);
      return subnetsOf(own, interfaces);
    });
    context.output.list(tableOf(replies), {
      nodes: replies.flatMap(({ value }) => (value ? [value] : [])),
      failures: failuresOf(replies),
    });
    return context.explainFailures(replies);
  },
};

function subnetsOf(own: unknown, interfaces: unknown): NodeSubnets {
  const { nodeId, nodeName, nodeIP, podSubnetThisNode, vppHostNetwork, config } = fieldsOf(own);
  return {
    id: numberOf(nodeId),
    name: textOf(nodeName),
    vppAddress: textOf(nodeIP),
    bviAddress: bviAddressOf(interfaces),
    podSubnet: textOf(podSubnetThisNode),
    vppHostNetwork: textOf(vppHostNetwork),
    podClusterSubnet: textOf(fieldsOf(config)['podSubnetCIDR']),
  };
}

function bviAddressOf(interfaces: unknown): string {
  for (const one of itemsOf(interfaces)) {
    const { name, ipAddresses } = fieldsOf(fieldsOf(one)['Value']);
    if (name === BVI) return textOf(itemsOf(ipAddresses)[0]).split('/')[0]!;
  }
  return '';
}

function tableOf(replies: readonly NodeReply<NodeSubnets>[]): Table {
  return {
    columns: [
      { title: 'ID', whenNarrow: 'keep' },
      { title: 'NODE-NAME' },
      { title: 'VPP-IP', whenNarrow: 'keep' },
      { title: 'BVI-IP', whenNarrow: 'keep' },
      { title: 'POD-CIDR', whenNarrow: 'keep' },
      { title: 'VPP-2-HOST-CIDR', whenNarrow: 'keep' },
      { title: 'POD-CLUSTER-CIDR', whenNarrow: 'drop' },
    ],
    rows: replies.map(rowOf),
  };
}

function rowOf({ node, value, failure }: NodeReply<NodeSubnets>): TableRow {
  if (failure)
    return { cells: [String(node.id ?? ''), node.name], note: failure.text, color: 'red' };
  const { id, name, vppAddress, bviAddress, podSubnet, vppHostNetwork, podClusterSubnet } = value;
  const bvi = bviAddress || 'Not Available';
  return {
    cells: [String(id ?? ''), name, vppAddress, bvi, podSubnet, vppHostNetwork, podClusterSubnet],
  };
}
