/** Many records of Kubernetes, in the event handlers of a node. */
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeValue } from '#test/plugins/test-node.ts';
import { PolicyCluster, podKeyOf, podOf, policyKeyOf } from '../policy-cluster.ts';
import type { Dimension } from './dimension.ts';
import { HandlerNode } from './handler-node.ts';

/** Pods of this node. */
const LOCAL_PODS = 30;
const POLICIES = 400;
const PODS = 2_000;
const ENDPOINTS = 4;

export const handlerDimensions: readonly Dimension[] = [
  {
    name: 'pods',
    load: `a resync with as many pods, ${POLICIES} policies, and ${LOCAL_PODS} pods of this node`,
    sizes: [500, 2_000, 8_000, 32_000],
    batch: 10,
    prepare: (size) => policies({ pods: size, policies: POLICIES }),
  },
  {
    name: 'policies',
    load: `a resync with as many policies, ${PODS} pods, and ${LOCAL_PODS} pods of this node`,
    sizes: [100, 400, 1_600, 6_400],
    batch: 10,
    prepare: (size) => policies({ pods: PODS, policies: size }),
  },
  {
    name: 'services',
    load: `a resync with as many services of ${ENDPOINTS} endpoints`,
    sizes: [250, 1_000, 4_000, 16_000],
    batch: 10,
    async prepare(size) {
      const records = Array.from({ length: size }, (_, at) => [
        serviceValue(at),
        endpointsValue(at, 0),
      ]).flat();
      return async () => {
        const node = new HandlerNode();
        await node.start(records);
        return {
          changes: {
            'one endpoint is replaced': {
              make: (round) => node.change(endpointsValue((round * 7919) % size, round + 1)),
            },
            'a service is deleted, or added again': {
              make: (round) =>
                round % 2 === 0 ? node.remove(serviceValue(0)) : node.change(serviceValue(0)),
            },
          },
          [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
        };
      };
    },
  },
];

async function policies(size: { readonly pods: number; readonly policies: number }) {
  const cluster = new PolicyCluster(size);
  const records: KubeValue[] = [...cluster.records()].flatMap(([resource, values]) =>
    [...values].map(([key, value]) => ({
      resource: resource as KubeValue['resource'],
      key,
      value,
    })),
  );
  const local = cluster.pods.slice(0, LOCAL_PODS);
  return async () => {
    const node = new HandlerNode();
    await node.start(records);
    for (const [at, { namespace, name }] of local.entries()) await node.attach(namespace, name, at);
    return {
      changes: {
        'the label of a pod changes': {
          make: (round: number) => {
            const at = (round * 7919) % cluster.pods.length;
            const pod = cluster.pods[at]!;
            const namespace = Number(pod.namespace.slice('team-'.length));
            const value = podOf(at, namespace, `app-${round % 25}`);
            return node.change({ resource: 'pod', key: podKeyOf(pod), value });
          },
        },
        'a policy is deleted, or added again': {
          make: (round: number) => {
            const policy = cluster.policies[((round >> 1) * 7919) % cluster.policies.length]!;
            const value = { resource: 'policy' as const, key: policyKeyOf(policy), value: policy };
            return round % 2 === 0 ? node.remove(value) : node.change(value);
          },
        },
      },
      [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
    };
  };
}

function serviceValue(at: number): KubeValue {
  const value = serviceModel.canonical({
    name: `web-${at}`,
    namespace: `team-${at % 100}`,
    cluster_ip: `10.96.${at >> 8}.${at & 255}`,
    service_type: 'ClusterIP',
    port: [{ name: 'http', protocol: 'TCP', port: 80 }],
  });
  return { resource: 'service', key: resources.service.key(value.name, value.namespace), value };
}

/** @param version decides about one of the endpoints */
function endpointsValue(at: number, version: number): KubeValue {
  const value = endpointsModel.canonical({
    name: `web-${at}`,
    namespace: `team-${at % 100}`,
    endpoint_subsets: [
      {
        addresses: Array.from({ length: ENDPOINTS }, (_, endpoint) => ({
          ip: `10.${80 + (at >> 12)}.${(at >> 4) & 255}.${(at & 15) * 16 + endpoint * 2 + (endpoint === 0 ? version % 2 : 0)}`,
          node_name: `node${2 + (at % 300)}`,
        })),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  });
  return {
    resource: 'endpoints',
    key: resources.endpoints.key(value.name, value.namespace),
    value,
  };
}
