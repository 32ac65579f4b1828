import type { Flow } from '#documents/flows.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { contains, parseCidr, parseIp } from '#models/ip.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { podAddressOwner } from '#plugins/ipam/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import type { ServiceApi } from '#plugins/service/api.ts';

export interface ServerReasonsDeps {
  readonly services: Pick<ServiceApi, 'describeService'>;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly addresses: () => IpamConfig;
  /** Current at any time. */
  readonly kubeState: () => KubeState;
}

export interface ServerReason {
  readonly text: string;
  /** Whether nothing else can be the reason. */
  readonly isCertain: boolean;
}

interface AskedService {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/** Why a server refuses a connection, or does not answer: what the state of Kubernetes says of it. */
export class ServerReasons {
  readonly #deps: ServerReasonsDeps;

  constructor(deps: ServerReasonsDeps) {
    this.#deps = deps;
  }

  /** @returns undefined: nothing is wrong with it, as far as is known here */
  find(flow: Flow): ServerReason | undefined {
    const certain = this.#ofService(flow) ?? this.#certainOf(flow);
    if (certain !== undefined) return { text: certain, isCertain: true };
    const { server, verdict } = flow;
    if (server.kind !== 'outside') return undefined;
    const text = `${server.address} is not in this cluster`;
    return { text: verdict === 'refused' ? `${text}: it has refused it` : text, isCertain: false };
  }

  /** The fault of the service that was asked. */
  #ofService({ server, service, protocol }: Flow): string | undefined {
    const asked: AskedService | undefined =
      service ?? (server.kind === 'service' ? { ...server, port: server.port ?? 0 } : undefined);
    if (asked === undefined || asked.name === '') return undefined;
    const { name, port } = asked;
    const found = this.#deps.services
      .describeService(name)
      ?.addresses.find(
        (one) =>
          one.protocol === protocol &&
          one.port === port &&
          (one.address === asked.address || one.kind === 'node-port'),
      );
    if (!found) return undefined;
    const { whyNotRendered, backends } = found;
    if (whyNotRendered !== undefined)
      return `service ${name} is not carried by this node: ${whyNotRendered}`;
    if (backends.some(({ whyNotUsed }) => whyNotUsed === undefined)) return undefined;
    const [first] = backends;
    const text = `service ${name} has no endpoint for ${protocol} port ${port}`;
    return first
      ? `${text}: ${first.pod || first.address} is not used, because ${first.whyNotUsed}`
      : text;
  }

  #certainOf({ server, protocol, verdict }: Flow): string | undefined {
    const { kind, name, address, port } = server;
    if (kind === 'outside') return this.#ofUnknownAddress(address, protocol, port);
    if (kind === 'service') return undefined;
    if (verdict === 'refused') return `no process listens at ${protocol} port ${port} of ${name}`;
    const node = kind === 'pod' ? this.#nodeOf(name) : name;
    if (node === undefined) return undefined;
    const found = this.#deps.nodes.allNodes().get(node);
    if (found && found.vppAddresses.length > 0) return undefined;
    const has = kind === 'pod' ? `, which has ${name},` : '';
    return `node ${node}${has} is not reachable: it has no ${found ? 'address of VPP' : 'ID'} in the cluster`;
  }

  /** An address of the cluster that nothing has. */
  #ofUnknownAddress(
    address: string,
    protocol: Flow['protocol'],
    port: number | undefined,
  ): string | undefined {
    const bytes = parseIp(address);
    if (!bytes) return undefined;
    const config = this.#deps.addresses();
    const owner = podAddressOwner(config)(address);
    if (owner !== undefined) {
      const all = [...this.#deps.nodes.allNodes().values()];
      const node = all.find(({ id }) => id === owner)?.name;
      return node === undefined
        ? `no pod has ${address}, and no node has its subnet`
        : `no pod has ${address}, an address for pods of node ${node}`;
    }
    // one of each family
    const isOfServices = config.serviceCidr.split(',').some((text) => {
      const cidr = parseCidr(text.trim());
      return cidr !== undefined && contains(cidr, bytes);
    });
    return isOfServices ? `no service has ${address}, ${protocol} port ${port}` : undefined;
  }

  /** Name of the node of a pod; undefined: unknown. */
  #nodeOf(pod: string): string | undefined {
    const [namespace = '', name = ''] = pod.split('/');
    const key = resources.pod.key(name, namespace);
    const record = this.#deps.kubeState().get(resources.pod.keyword)?.get(key) as
      | { readonly host_ip_address: string }
      | undefined;
    if (!record?.host_ip_address) return undefined;
    for (const node of this.#deps.nodes.allNodes().values())
      if (node.managementAddresses.includes(record.host_ip_address)) return node.name;
    return undefined;
  }
}
