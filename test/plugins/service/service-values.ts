/** Services and Endpoints as they are in the state of Kubernetes. */
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import type { KubeValue } from '../test-node.ts';

type ServiceInput = DeepInput<ReturnType<typeof serviceModel.canonical>>;

/** A service with the TCP port 80, unless others are given. */
export function serviceValue(
  name: string,
  clusterIp: string,
  fields: Partial<ServiceInput> = {},
): KubeValue {
  const value = serviceModel.canonical({
    name,
    namespace: 'default',
    cluster_ip: clusterIp,
    service_type: 'ClusterIP',
    port: [{ name: 'http', protocol: 'TCP', port: 80 }],
    ...fields,
  });
  return { resource: 'service', key: resources.service.key(name, 'default'), value };
}

export interface TestEndpoint {
  readonly ip: string;
  readonly node: string;
  /** Absent: not a pod. */
  readonly pod?: string;
}

/** @param name of the service; port 8080 answers for its port 80 */
export function endpointsValue(name: string, endpoints: readonly TestEndpoint[]): KubeValue {
  const value = endpointsModel.canonical({
    name,
    namespace: 'default',
    endpoint_subsets: [
      {
        addresses: endpoints.map(({ ip, node, pod }) => ({
          ip,
          node_name: node,
          ...(pod !== undefined && {
            target_ref: { kind: 'Pod', namespace: 'default', name: pod },
          }),
        })),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  });
  return { resource: 'endpoints', key: resources.endpoints.key(name, 'default'), value };
}

export const localPod = (host: number): TestEndpoint => ({
  ip: `10.1.1.${host}`,
  node: 'node-a',
  pod: `local-${host}`,
});

export const remotePod = (host: number): TestEndpoint => ({
  ip: `10.1.2.${host}`,
  node: 'node-b',
  pod: `remote-${host}`,
});
