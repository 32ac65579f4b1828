/** `netctl ipam`: the subnets that nodes have. */
import type { IpamDocument } from '#documents/ipam.ts';
import type { InterfaceValues } from '#documents/original.ts';
import type { Command, NodeReply, Table, TableRow } from '../command.ts';
import { failuresOf } from '../failures.ts';

interface NodeSubnets {
  readonly id: number;
  readonly name: string;
  readonly vppAddress: string;
  /** By which other nodes route to this one: of an interface, or with WireGuard of none; empty: there is none. */
  readonly bviAddress: string;
  readonly podSubnet: string;
  readonly vppHostNetwork: string;
  readonly podClusterSubnet: string;
  /** Those of the second family of the pods. */
  readonly furtherNetworks?: readonly FurtherNetwork[];
}

type FurtherNetwork = Pick<
  NodeSubnets,
  'vppAddress' | 'bviAddress' | 'podSubnet' | 'vppHostNetwork' | 'podClusterSubnet'
>;

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
    const { IpamDocument } = await import('#documents/ipam.ts');
    const { InterfaceValues } = await import('#documents/original.ts');
    const replies = await context.askAll(nodes, async (node) => {
      const path = 'scheduler/dump?state=SB&descriptor=vpp-interface';
      const [own, interfaces] = await Promise.all([
        context.ask(node, 'contiv/v1/ipam', IpamDocument),
        context.ask(node, path, InterfaceValues),
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

function subnetsOf(own: IpamDocument, interfaces: InterfaceValues): NodeSubnets {
  const [primary, ...others] = [own, ...(own.furtherNetworks ?? [])].map((one) => ({
    vppAddress: one.nodeIP,
    bviAddress: bviAddressOf(interfaces, one.podSubnetThisNode) || (one.overlayAddress ?? ''),
    podSubnet: one.podSubnetThisNode,
    vppHostNetwork: one.vppHostNetwork,
    podClusterSubnet: one.config.podSubnetCIDR ?? '',
  }));
  return {
    id: own.nodeId,
    name: own.nodeName,
    ...primary!,
    ...(others.length > 0 && { furtherNetworks: others }),
  };
}

/** @param podSubnet of the same family */
function bviAddressOf(interfaces: InterfaceValues, podSubnet: string): string {
  const addresses = interfaces.find(({ Value }) => Value.name === BVI)?.Value.ipAddresses ?? [];
  const isOfFamily = (text: string): boolean => text.includes(':') === podSubnet.includes(':');
  return addresses.find(isOfFamily)?.split('/')[0] ?? '';
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
  const networks = [value, ...(value.furtherNetworks ?? [])];
  const list = (textOf: (one: FurtherNetwork) => string): string =>
    networks.map(textOf).filter(Boolean).join(',');
  return {
    cells: [
      String(value.id),
      value.name,
      list(({ vppAddress }) => vppAddress),
      list(({ bviAddress }) => bviAddress) || 'Not Available',
      list(({ podSubnet }) => podSubnet),
      list(({ vppHostNetwork }) => vppHostNetwork),
      list(({ podClusterSubnet }) => podClusterSubnet),
    ],
  };
}
