/** The records in etcd of a cluster of some size. */
import { REFLECTOR_PREFIX, type Resource, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';

/** Numbers of records; pods are what is left of the keys. */
export interface ClusterSize {
  readonly nodes: number;
  readonly namespaces: number;
  readonly services: number;
  readonly keys: number;
}

/** Keys and texts of the records of a reflector, and of the agents. */
export function* clusterRecords(size: ClusterSize): Generator<[string, string]> {
  const { nodes, namespaces, services, keys } = size;
  let left = keys;
  for (let at = 0; at < namespaces; at++, left--)
    yield keyed(resources.namespace, { name: `team-${at}` });
  for (let at = 1; at <= nodes; at++, left -= 2) {
    const addresses = [{ type: 'NodeInternalIP', address: `10.250.${at >> 8}.${at & 255}` }];
    yield keyed(resources.node, { name: `node${at}`, addresses });
    yield keyed(resources.vppnode, {
      id: at,
      name: `node${at}`,
      ip_addresses: [`192.168.16.${at}/24`],
    });
  }
  for (let at = 0; at < services; at++, left -= 2) {
    const id = { name: `web-${at}`, namespace: `team-${at % namespaces}` };
    yield keyed(resources.service, {
      ...id,
      cluster_ip: `10.96.${at >> 8}.${at & 255}`,
      service_type: 'ClusterIP',
      selector: { app: `web${at}` },
      port: [{ name: 'http', protocol: 'TCP', port: 80 }],
    });
    yield keyed(resources.endpoints, {
      ...id,
      endpoint_subsets: [
        {
          addresses: [{ ip: podAddress(at, nodes), node_name: nodeOf(at, nodes) }],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ],
    });
  }
  for (let at = 0; left > 0; at++, left--) yield podRecord(at, size);
}

function podRecord(at: number, { nodes, namespaces, services }: ClusterSize): [string, string] {
  return keyed(resources.pod, {
    name: `web-${at}`,
    namespace: `team-${at % namespaces}`,
    ip_address: podAddress(at, nodes),
    host_ip_address: `10.250.0.${(at % nodes) + 1}`,
    label: [
      { key: 'app', value: `web${at % services}` },
      { key: 'tier', value: 'frontend' },
    ],
    container: [{ name: 'web', port: [{ name: 'http', container_port: 8080 }] }],
  });
}

function keyed<T extends object>(resource: Resource<T>, input: object): [string, string] {
  const value = resource.model.canonical(input as never);
  return [REFLECTOR_PREFIX + resource.model.key(value), valueText(resource, value)];
}

function nodeOf(pod: number, nodes: number): string {
  return `node${(pod % nodes) + 1}`;
}

/** In the subnet of its node. */
function podAddress(pod: number, nodes: number): string {
  const node = (pod % nodes) + 1;
  return `10.1.${node}.${2 + (Math.floor(pod / nodes) % 250)}`;
}
