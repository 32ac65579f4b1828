/** `netctl pods`: the pods of nodes, their interfaces in VPP, and where addresses of services are translated for them. */
import type { Allocations } from '#documents/ipam.ts';
import type { PodSummary } from '#documents/pods.ts';
import type {
  ClusterNode,
  ClusterPod,
  Command,
  CommandContext,
  NodeReply,
  Table,
  TableRow,
} from '../command.ts';
import { failuresOf } from '../failures.ts';
import { isUnknownRoute } from '../requests/missing.ts';

interface VppInterface {
  readonly index: number | undefined;
  /** VPP's own name. */
  readonly name: string;
}

type Settings = Pick<PodEntry, 'serviceTranslation' | 'bandwidth'>;

interface NodeInterfaces {
  /** By the address of the pod. */
  readonly interfaces: ReadonlyMap<string, VppInterface>;
  /** By the address of the pod. */
  readonly settings: ReadonlyMap<string, Settings>;
  /** The pods that are attached to VPP; undefined: those of the cluster are known. */
  readonly pods: readonly ClusterPod[] | undefined;
}

interface PodEntry {
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly furtherAddresses?: readonly string[];
  readonly node: string;
  readonly interfaceIndex: number | undefined;
  readonly interfaceName: string | undefined;
  /** `sockets` or `packets`. */
  readonly serviceTranslation: string | undefined;
  readonly bandwidth: PodSummary['bandwidth'] | undefined;
  readonly isInHostNetwork: boolean;
  readonly failure: string | undefined;
}

export const pods: Command = {
  name: 'pods',
  summary: 'List the pods of the nodes and their interfaces in VPP',
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
  examples: ['pods', 'pods k8s-worker1'],
  async run(context, input) {
    const nodes = await context.nodes(input.arguments['node']);
    const known = await context.pods();
    const replies = await context.askAll(nodes, (node) => interfacesOf(context, node, !known));
    const entries = replies.flatMap((reply) => entriesOf(reply, known));
    context.output.list(tableOf(entries, known ? [] : replies), {
      pods: entries,
      failures: failuresOf(replies),
    });
    return context.explainFailures(replies);
  },
};

async function interfacesOf(
  context: CommandContext,
  node: ClusterNode,
  withPods: boolean,
): Promise<NodeInterfaces> {
  const { Allocations } = await import('#documents/ipam.ts');
  const { ArpValues, VppInterfaces } = await import('#documents/original.ts');
  const [arps, interfaces, settings, allocations] = await Promise.all([
    context.ask(node, 'scheduler/dump?view=NB&descriptor=vpp-arp', ArpValues),
    context.ask(node, 'dump/vpp/v2/interfaces', VppInterfaces),
    settingsOf(context, node),
    withPods ? context.ask(node, 'contiv/v1/ipam/allocations', Allocations) : undefined,
  ]);
  const byName = new Map<string, VppInterface>();
  for (const { interface: configured, interface_meta: actual } of Object.values(interfaces))
    byName.set(configured.name, { index: actual.sw_if_index, name: actual.internal_name });
  const byAddress = new Map<string, VppInterface>();
  for (const { Value } of arps) {
    const found = byName.get(Value.interface);
    if (found) byAddress.set(Value.ipAddress, found);
  }
  const pods = allocations && attachedPods(allocations);
  return { interfaces: byAddress, settings, pods };
}

/** Of an agent that is too old to say it: none. */
async function settingsOf(
  context: CommandContext,
  node: ClusterNode,
): Promise<ReadonlyMap<string, Settings>> {
  const { PodSettings } = await import('#documents/pods.ts');
  try {
    const found = await context.ask(node, 'contiv/v1/pods', PodSettings);
    return new Map(
      found.pods.flatMap(({ addresses, serviceTranslation, bandwidth }) => {
        const settings = {
          serviceTranslation: serviceTranslation ?? undefined,
          bandwidth: bandwidth ?? undefined,
        };
        return addresses.map((address) => [address, settings] as const);
      }),
    );
  } catch (thrown) {
    if (isUnknownRoute(thrown)) return new Map();
    throw thrown;
  }
}

function attachedPods({ Pods }: Allocations): ClusterPod[] {
  return Pods.map(({ PodID: { Name, Namespace }, MainIP, FurtherIPs = {} }) => ({
    name: Name,
    namespace: Namespace,
    address: MainIP || undefined,
    ...(FurtherIPs['eth0'] && { furtherAddresses: FurtherIPs['eth0'] }),
    hostAddress: undefined,
  }));
}

function entriesOf(
  { node, value, failure }: NodeReply<NodeInterfaces>,
  known: readonly ClusterPod[] | undefined,
): PodEntry[] {
  // Pods that are not scheduled, and nodes without an address, have none.
  const ofNode =
    known?.filter(({ hostAddress: its }) => its !== undefined && its === node.host) ??
    value?.pods ??
    [];
  return ofNode.toSorted(byNamespace).map((pod) => {
    const { name, namespace, address = '', hostAddress, furtherAddresses } = pod;
    const found = value?.interfaces.get(address);
    const settings = value?.settings.get(address);
    return {
      name,
      namespace,
      address,
      ...(furtherAddresses && { furtherAddresses }),
      node: node.name,
      interfaceIndex: found?.index,
      interfaceName: found?.name,
      serviceTranslation: settings?.serviceTranslation,
      bandwidth: settings?.bandwidth,
      isInHostNetwork: address !== '' && address === hostAddress,
      failure: failure?.text,
    };
  });
}

function byNamespace(a: ClusterPod, b: ClusterPod): number {
  return a.namespace.localeCompare(b.namespace, 'en') || a.name.localeCompare(b.name, 'en');
}

/** @param silent nodes of which not even the pods are known when they do not answer */
function tableOf(
  entries: readonly PodEntry[],
  silent: readonly NodeReply<NodeInterfaces>[],
): Table {
  const failed = silent.flatMap(({ node, failure }): TableRow[] =>
    failure ? [{ cells: [], note: `${node.name}: ${failure.text}`, color: 'red' }] : [],
  );
  return {
    columns: [
      { title: 'POD-NAME', whenNarrow: 'keep' },
      { title: 'NAMESPACE' },
      { title: 'POD-IP', whenNarrow: 'keep' },
      { title: 'IF-IDX', whenNarrow: 'drop' },
      { title: 'IF-NAME' },
      { title: 'NODE-NAME' },
      { title: 'SERVICES' },
      { title: 'BANDWIDTH', whenNarrow: 'drop' },
    ],
    rows: [...entries.map(rowOf), ...failed],
  };
}

function rowOf(pod: PodEntry): TableRow {
  const { name, namespace, address, node, interfaceIndex, interfaceName, failure } = pod;
  const known = [name, namespace, [address, ...(pod.furtherAddresses ?? [])].join(',')];
  if (pod.isInHostNetwork) return { cells: [...known, '', '', node] };
  if (failure !== undefined) return { cells: known, note: `${node}: ${failure}`, color: 'red' };
  // As in the original.
  if (interfaceName === undefined) return { cells: [...known, '0', 'N/A', node], color: 'yellow' };
  const translation = pod.serviceTranslation ?? '';
  const cells = [...known, String(interfaceIndex ?? ''), interfaceName, node, translation];
  return { cells: [...cells, bandwidthText(pod.bandwidth)] };
}

/** `in 10M, out 1.5G`, in bits a second. */
function bandwidthText(bandwidth: PodEntry['bandwidth']): string {
  if (!bandwidth) return '';
  const { ingress, egress, problems } = bandwidth;
  const texts = [
    ...(ingress === null ? [] : [`in ${rateText(ingress)}`]),
    ...(egress === null ? [] : [`out ${rateText(egress)}`]),
    ...(problems.length === 0 ? [] : ['not as annotated']),
  ];
  return texts.join(', ');
}

/** As annotations say it, with three digits after the point at most. */
function rateText(rate: number): string {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  const steps = Math.min(prefixes.length - 1, Math.floor(Math.log10(Math.max(rate, 1)) / 3));
  return `${Number((rate / 1000 ** steps).toFixed(3))}${prefixes[steps]}`;
}
