/** Records of services and their endpoints, in short. */

import type { Service } from '#kubernetes/models/service.ts';
import type { DeepInput } from '#models/model.ts';
import type { Place, Protocol, ServiceCluster, ServiceRecords } from '../service-cluster.ts';

export const both: readonly Protocol[] = ['TCP', 'UDP'];

export const a: Place = { pod: 'a' };
export const b: Place = { pod: 'b' };
export const c: Place = { pod: 'c' };
export const x: Place = { pod: 'x' };
export const y: Place = { pod: 'y' };
export const z: Place = { pod: 'z' };
export const host1: Place = { host: 'node1' };
export const host2: Place = { host: 'node2' };

/** A port of a service; it has the same name and number for TCP and UDP. */
export interface PortInput {
  readonly port: number;
  /** Port of the backends; default: the same. */
  readonly target?: number;
  readonly nodePort?: number;
}

export interface BackendInput {
  readonly at: Place;
  readonly state?: 'ready' | 'not ready' | 'terminating';
}

export interface ServiceInput extends DeepInput<Omit<Service, 'port'>> {
  readonly ports: readonly PortInput[];
  /** Undefined: the service has no endpoints object. */
  readonly backends?: readonly (Place | BackendInput)[];
}

/** Each port over TCP and UDP. */
export function serviceRecords(
  cluster: ServiceCluster,
  name: string,
  { ports, backends, ...service }: ServiceInput,
): ServiceRecords {
  const portNames = ports.flatMap(({ port, target = port, nodePort = 0 }) =>
    both.map((protocol) => ({
      name: `${protocol}-${port}`.toLowerCase(),
      protocol,
      port,
      target,
      nodePort,
    })),
  );
  return {
    name,
    service: {
      service_type: 'ClusterIP',
      ...service,
      port: portNames.map(({ target, nodePort, ...port }) => ({
        ...port,
        node_port: nodePort,
        target_port: { type: 'NUMBER', int_val: target },
      })),
    },
    ...(backends && {
      endpoints: {
        endpoint_subsets: [
          {
            addresses: addresses(cluster, backends, 'ready'),
            not_ready_addresses: [
              ...addresses(cluster, backends, 'not ready'),
              ...addresses(cluster, backends, 'terminating'),
            ],
            ports: portNames.map((port) => ({
              name: port.name,
              port: port.target,
              protocol: port.protocol,
            })),
          },
        ],
      },
    }),
  };
}

function addresses(
  cluster: ServiceCluster,
  backends: readonly (Place | BackendInput)[],
  wanted: 'ready' | 'not ready' | 'terminating',
) {
  return backends
    .map((one): BackendInput => (typeof one === 'object' && 'at' in one ? one : { at: one }))
    .filter(({ state = 'ready' }) => state === wanted)
    .map(({ at }) => ({
      ip: cluster.addressOf(at),
      node_name: cluster.nodeOf(at) ?? '',
      serving_while_terminating: wanted === 'terminating',
      ...(typeof at === 'object' &&
        'pod' in at && {
          target_ref: { kind: 'Pod', namespace: 'default', name: at.pod },
        }),
    }));
}
