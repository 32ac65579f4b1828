/**
 * The semantics of services in Kubernetes, in plain words and without a thought of speed: the measure
 * for processor, renderer and data plane. It shares no code with them and works on the objects themselves.
 */
import type {
  KubeEndpointSlice,
  KubeSliceEndpoint,
} from '#kubernetes/reflector/objects/endpoints.ts';
import type { KubeService, KubeServicePort } from '#kubernetes/reflector/objects/service.ts';

type Family = 4 | 6;

export interface World {
  /** Of the pods; addresses of others are not served. */
  readonly families: readonly Family[];
  readonly services: readonly KubeService[];
  readonly slices: readonly KubeEndpointSlice[];
  /** The node on which a client asks. */
  readonly node: {
    readonly name: string;
    /** Empty: unknown. */
    readonly zone: string;
    readonly addresses: readonly string[];
    /** First and last addresses of the subnets of its pods. */
    readonly podRanges: readonly (readonly [first: string, last: string])[];
  };
  readonly otherNodes: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  /** Whether users may not choose the address for their services. */
  isForbidden(address: string): boolean;
}

/** The answer to a client at one address, port and protocol. */
export interface Answer {
  /** `<namespace>/<name>`. */
  readonly service: string;
  /** `address:port`, sorted; none: the connection is refused. */
  readonly backends: readonly string[];
  readonly seesClient: boolean;
  /** Seconds; 0: none. */
  readonly affinity: number;
  /** Networks of the clients that may ask, sorted; undefined: everyone may. */
  readonly ranges: readonly string[] | undefined;
}

/**
 * Answers of the addresses of the families by `TCP 10.96.0.1 80`.
 * @param client for a socket in the cluster the external traffic policy has no meaning
 */
export function answers(world: World, client: 'packet' | 'socket' = 'packet'): Map<string, Answer> {
  const found = new Map<string, Answer>();
  const nodePorts = new Set<string>();
  for (const rank of [0, 1, 2, 3]) {
    for (const service of bySeniority(world.services)) {
      if (!isServed(service, world)) continue;
      for (const port of service.spec.ports ?? []) {
        if (port.protocol === 'SCTP') continue;
        const number = rank === 1 ? port.nodePort : port.port;
        if (!number) continue;
        for (const family of familiesOf(service, world)) {
          // a node port is one of one service, at all nodes
          const nodePort = `IPv${family} ${port.protocol ?? 'TCP'} ${number}`;
          if (rank === 1 && nodePorts.has(nodePort)) continue;
          if (rank === 1) nodePorts.add(nodePort);
          for (const address of addressesOf(service, rank, client, world)) {
            if (familyOf(address) !== family) continue;
            const key = `${port.protocol ?? 'TCP'} ${address} ${number}`;
            const one = answer(service, port, { rank, client, address }, world);
            if (!found.has(key) && one !== undefined) found.set(key, one);
          }
        }
      }
    }
  }
  return found;
}

/** Addresses that Kubernetes allocates precede those that users choose; then the older service. */
function bySeniority(services: readonly KubeService[]): KubeService[] {
  const age = ({ metadata }: KubeService): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.namespace}/${metadata.name}`;
  return [...services].sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

function isServed(service: KubeService, world: World): boolean {
  const { metadata, spec } = service;
  const labels = metadata.labels ?? {};
  if ('service.kubernetes.io/service-proxy-name' in labels) return false;
  if ('service.kubernetes.io/headless' in labels || spec.type === 'ExternalName') return false;
  return familiesOf(service, world).length > 0;
}

/** Of the cluster addresses: a service has other addresses in these alone. */
function familiesOf({ spec }: KubeService, { families }: World): Family[] {
  const own = clusterIps(spec).map(familyOf);
  return families.filter((family) => own.includes(family));
}

function clusterIps(spec: KubeService['spec']): string[] {
  return spec.clusterIPs ?? [spec.clusterIP ?? ''];
}

function familyOf(address: string): Family | undefined {
  if (address.includes(':')) return 6;
  return /^\d+\.\d+\.\d+\.\d+$/.test(address) ? 4 : undefined;
}

/**
 * A socket asks other nodes' ports as if they were its own node's. What else another node has at its address is asked of
 * that node.
 */
function addressesOf(
  service: KubeService,
  rank: number,
  client: 'packet' | 'socket',
  world: World,
): string[] {
  const { spec, status } = service;
  const others = client === 'socket' ? world.otherNodes.flatMap(({ addresses }) => addresses) : [];
  const chosen = (addresses: readonly string[]) =>
    addresses.filter(
      (address) =>
        familyOf(address) !== undefined && !world.isForbidden(address) && !others.includes(address),
    );
  if (rank === 0) return clusterIps(spec);
  if (rank === 1) {
    return [...world.node.addresses, ...others];
  }
  if (rank === 3) return chosen(spec.externalIPs ?? []);
  if (spec.type !== 'LoadBalancer') return [];
  const ingress = status?.loadBalancer?.ingress ?? [];
  return chosen(ingress.flatMap(({ ip, ipMode }) => (ip && ipMode !== 'Proxy' ? [ip] : [])));
}

interface Asked {
  readonly rank: number;
  readonly client: 'packet' | 'socket';
  readonly address: string;
}

/** undefined: it is left to another node. */
function answer(
  service: KubeService,
  port: KubeServicePort,
  { rank, client, address }: Asked,
  world: World,
): Answer | undefined {
  const { metadata, spec } = service;
  const isInternal = rank === 0;
  const external = client === 'socket' ? 'Cluster' : spec.externalTrafficPolicy;
  const other = world.otherNodes.find(({ addresses }) => addresses.includes(address));
  const isOther = rank === 1 && other !== undefined && spec.externalTrafficPolicy === 'Local';
  const isLocal = isOther || (isInternal ? spec.internalTrafficPolicy : external) === 'Local';
  const family = familyOf(address);
  const selected = (local: boolean, node: string) =>
    backendsOf(endpointsOf(service, port, family, world), local, node, world);
  const backends = selected(isLocal, isOther ? other.name : world.node.name);
  const isServed = selected(false, world.node.name).length > 0;
  if (isOther && backends.length === 0 && isServed) return undefined;
  const affinity = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800;
  return {
    service: `${metadata.namespace}/${metadata.name}`,
    backends,
    seesClient: isInternal || isLocal,
    affinity: spec.sessionAffinity === 'ClientIP' ? affinity : 0,
    ranges: rank === 2 ? rangesOf(spec, family) : undefined,
  };
}

/** Those of the family: others permit no client. */
function rangesOf(
  { loadBalancerSourceRanges: all = [] }: KubeService['spec'],
  family: Family | undefined,
) {
  if (all.length === 0) return undefined;
  const longest = family === 4 ? 32 : 128;
  return all
    .filter((one) => {
      const [network = '', length] = one.split('/');
      return familyOf(network) === family && Number(length) <= longest;
    })
    .sort();
}

/**
 * Whether the ranges of a service let a client ask. At sockets the address of a pod is not known: all pods of a node are
 * in a range, or all are refused.
 */
export function isInRanges(
  { ranges }: Answer,
  client: { readonly address: string; readonly isSocket: boolean },
  { node }: World,
): boolean {
  if (ranges === undefined) return true;
  return ranges.some((range) => {
    const isOwn = (address: string) => familyOf(address) === familyOf(range.split('/')[0] ?? '');
    const asking = client.isSocket ? node.podRanges.flat().filter(isOwn) : [client.address];
    return asking.every((address) => isIn(range, address));
  });
}

function isIn(range: string, address: string): boolean {
  const [network = '', length] = range.split('/');
  const rest = BigInt((range.includes(':') ? 128 : 32) - Number(length));
  return numberOf(address) >> rest === numberOf(network) >> rest;
}

function numberOf(address: string): bigint {
  const number = (parts: readonly string[], base: bigint, prefix: string): bigint =>
    parts.reduce((all, part) => all * base + BigInt(`${prefix}${part}`), 0n);
  if (!address.includes(':')) return number(address.split('.'), 256n, '');
  const [head = [], tail = []] = address.split('::').map((text) => text.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return number([...head, ...zeros, ...tail], 65_536n, '0x');
}

function backendsOf(
  endpoints: readonly Hinted[],
  isLocal: boolean,
  name: string,
  world: World,
): string[] {
  const { zone } = world.node;
  const all = endpoints.filter((one) => !isLocal || one.node === name);
  let ready = all.filter((one) => one.state === 'ready');
  if (ready.length === 0) ready = all.filter((one) => one.state === 'serving');
  else if (!isLocal) {
    const everyone = (hints: (one: Hinted) => readonly string[], place: string): boolean =>
      ready.every((one) => hints(one).length > 0) &&
      ready.some((one) => hints(one).includes(place));
    if (everyone((one) => one.forNodes, name))
      ready = ready.filter((one) => one.forNodes.includes(name));
    else if (everyone((one) => one.forZones, zone))
      ready = ready.filter((one) => one.forZones.includes(zone));
  }
  return ready.map((one) => one.target).sort();
}

interface Hinted {
  readonly target: string;
  readonly node: string;
  readonly state: 'ready' | 'serving' | 'neither';
  readonly forNodes: readonly string[];
  readonly forZones: readonly string[];
}

function endpointsOf(
  service: KubeService,
  port: KubeServicePort,
  family: Family | undefined,
  world: World,
): Hinted[] {
  const { name, namespace } = service.metadata;
  return world.slices.flatMap(({ metadata, addressType, ports, endpoints }) => {
    const isOfService = metadata.labels?.['kubernetes.io/service-name'] === name;
    if (addressType !== `IPv${family}` || metadata.namespace !== namespace || !isOfService)
      return [];
    const same = (ports ?? []).filter(
      (one) =>
        (one.name ?? '') === (port.name ?? '') &&
        (one.protocol ?? 'TCP') === (port.protocol ?? 'TCP'),
    );
    return same.flatMap((one) =>
      (endpoints ?? []).map((endpoint) => ({
        target: `${endpoint.addresses[0]}:${one.port}`,
        node: endpoint.nodeName ?? '',
        state: stateOf(endpoint.conditions ?? {}),
        forNodes: (endpoint.hints?.forNodes ?? []).map((hint) => hint.name),
        forZones: (endpoint.hints?.forZones ?? []).map((hint) => hint.name),
      })),
    );
  });
}

function stateOf(conditions: NonNullable<KubeSliceEndpoint['conditions']>): Hinted['state'] {
  if (conditions.ready !== false) return 'ready';
  return conditions.serving && conditions.terminating ? 'serving' : 'neither';
}
