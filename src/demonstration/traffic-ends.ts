/** The clients of the simulated traffic, and the services that they ask. */
import type { KubePod } from '#kubernetes/reflector/objects/pod.ts';
import type { KubeService } from '#kubernetes/reflector/objects/service.ts';
import { CUSTOMER, SERVER } from './outside.ts';

export interface Client {
  readonly address: string;
  readonly targets: readonly Target[];
}

export interface Target {
  readonly address: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

/**
 * Each pod talks with all services and with a server outside, as far as it may, and customers outside with the node
 * ports of each node.
 * @param nodeAddresses of VPP, at which node ports are reached
 */
export function trafficClients(
  pods: readonly KubePod[],
  services: readonly KubeService[],
  nodeAddresses: readonly string[],
): Client[] {
  const inside = services.flatMap(clusterTargets);
  const server = { address: SERVER, port: 443, protocol: 'TCP' } as const;
  const addresses = pods.flatMap(({ status }) => status?.podIP ?? []);
  const published = services.flatMap((service) =>
    nodeAddresses.flatMap((address) => nodeTargets(service, address)),
  );
  return [
    ...addresses.map((address) => ({ address, targets: [...inside, server] })),
    ...(published.length > 0 ? [{ address: CUSTOMER, targets: published }] : []),
  ];
}

function clusterTargets({ spec }: KubeService): Target[] {
  const address = spec?.clusterIP;
  if (!address || address === 'None') return [];
  return targets(spec, address, ({ port }) => port);
}

function nodeTargets({ spec }: KubeService, address: string): Target[] {
  return targets(spec, address, ({ nodePort }) => nodePort);
}

type ServiceSpec = KubeService['spec'];
type ServicePort = NonNullable<NonNullable<ServiceSpec>['ports']>[number];

function targets(
  spec: ServiceSpec,
  address: string,
  numberOf: (port: ServicePort) => number | undefined,
): Target[] {
  return (spec?.ports ?? []).flatMap((one): Target[] => {
    const port = numberOf(one);
    const { protocol = 'TCP' } = one;
    if (!port || (protocol !== 'TCP' && protocol !== 'UDP')) return [];
    return [{ address, port, protocol }];
  });
}
