/** Allocates cluster addresses and node ports to services, as Kubernetes does. */
import { createHash } from 'node:crypto';
import { formatIp, type IpBytes, network, parseCidr, parseKubernetesIp } from '#models/ip.ts';
import type { ManifestProblem } from './manifest-problem.ts';
import type { KubeService } from './objects/service.ts';
import { displayName, type SourcedObject } from './sourced-object.ts';

/** Allocates numbers by name: a name always gets the same number if that is free. */
class StableAllocator {
  readonly #first: bigint;
  readonly #count: bigint;
  readonly #taken = new Set<bigint>();

  constructor(first: bigint, count: bigint) {
    this.#first = first;
    this.#count = count;
  }

  reserve(number: bigint): void {
    this.#taken.add(number);
  }

  /** Undefined if all numbers are allocated. */
  allocate(name: string): bigint | undefined {
    if (this.#count <= 0n) return undefined;
    const start = BigInt(`0x${createHash('sha256').update(name).digest('hex').slice(0, 32)}`);
    for (let step = 0n; step < this.#count && step <= this.#taken.size; step++) {
      const number = this.#first + ((start + step) % this.#count);
      if (this.#taken.has(number)) continue;
      this.#taken.add(number);
      return number;
    }
    return undefined;
  }
}

class ClusterIps {
  readonly #length: number;
  readonly #numbers: StableAllocator;

  /** @param cidr valid service CIDR */
  constructor(cidr: string) {
    const parsed = parseCidr(cidr);
    if (parsed === undefined) throw new TypeError(`${cidr} is not a CIDR`);
    const base = network(parsed).address;
    this.#length = base.length;
    const size = 1n << BigInt(base.length * 8 - parsed.length);
    // the first host address belongs to the API server, the last address is the broadcast address
    this.#numbers = new StableAllocator(toNumber(base) + 2n, size - 3n);
  }

  reserve(address: string): void {
    const bytes = parseKubernetesIp(address);
    if (bytes?.length === this.#length) this.#numbers.reserve(toNumber(bytes));
  }

  allocate(service: string): string | undefined {
    const number = this.#numbers.allocate(service);
    return number === undefined ? undefined : formatIp(toBytes(number, this.#length));
  }
}

class NodePorts {
  readonly #numbers = new StableAllocator(30_000n, 2768n);

  reserve(port: number): void {
    this.#numbers.reserve(BigInt(port));
  }

  allocate(name: string): number | undefined {
    const number = this.#numbers.allocate(name);
    return number === undefined ? undefined : Number(number);
  }
}

function toNumber(bytes: IpBytes): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function toBytes(number: bigint, length: number): IpBytes {
  return Uint8Array.from(Buffer.from(number.toString(16).padStart(length * 2, '0'), 'hex'));
}

/** Services with cluster addresses and node ports, as the API server allocates them. */
export function withAllocations(
  services: readonly SourcedObject<KubeService>[],
  cidr: string,
  problems: ManifestProblem[],
): SourcedObject<KubeService>[] {
  const ips = new ClusterIps(cidr);
  const ports = new NodePorts();
  for (const { object } of services) {
    for (const address of [object.spec.clusterIP ?? '', ...(object.spec.clusterIPs ?? [])]) {
      ips.reserve(address);
    }
    for (const { nodePort } of object.spec.ports ?? []) if (nodePort) ports.reserve(nodePort);
  }
  const byName = [...services].sort((a, b) =>
    displayName(a.object) < displayName(b.object) ? -1 : 1,
  );
  return byName.map(({ object, source }) => {
    const name = displayName(object);
    const reportExhausted = (what: string): void => {
      problems.push({ ...source, kind: 'Service', name, reason: `no free ${what}` });
    };
    return {
      object: withNodePorts(withClusterIp(object, ips, reportExhausted), ports, reportExhausted),
      source,
    };
  });
}

type ReportExhausted = (what: string) => void;

function withClusterIp(
  service: KubeService,
  ips: ClusterIps,
  reportExhausted: ReportExhausted,
): KubeService {
  const { type, clusterIP, clusterIPs } = service.spec;
  if (type === 'ExternalName' || clusterIP || (clusterIPs ?? []).length > 0) return service;
  const address = ips.allocate(displayName(service));
  if (address === undefined) {
    reportExhausted('address in the service CIDR');
    return service;
  }
  const spec = { ...service.spec, clusterIP: address, clusterIPs: [address] };
  return { ...service, spec };
}

function withNodePorts(
  service: KubeService,
  nodePorts: NodePorts,
  reportExhausted: ReportExhausted,
): KubeService {
  const { type, ports, allocateLoadBalancerNodePorts = true } = service.spec;
  const needsPorts =
    type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts);
  if (!needsPorts || ports === undefined) return service;
  const filled = ports.map((port) => {
    if (port.nodePort) return port;
    const nodePort = nodePorts.allocate(`${displayName(service)}/${port.name ?? port.port}`);
    if (nodePort !== undefined) return { ...port, nodePort };
    reportExhausted('node port');
    return port;
  });
  return { ...service, spec: { ...service.spec, ports: filled } };
}
