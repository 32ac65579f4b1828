/**
 * The resources that the reflectors write to the datastore for the agents. An entry here adds a
 * resource to the watch, to resyncs, to the kube state of each event and to the reflection.
 */
import type { MessageModel } from '#models/define.ts';
import { closedClusterPolicies } from '../models/closed-cluster-policy.ts';
import { closedNamespaces } from '../models/closed-namespace.ts';
import { closedPods } from '../models/closed-pod.ts';
import { closedPolicies } from '../models/closed-policy.ts';
import {
  clusterNetworkPolicyKey,
  clusterNetworkPolicyModel,
} from '../models/cluster-network-policy.ts';
import { customIpamKey, customIpamModel } from '../models/custom-ipam.ts';
import { customNetworkKey, customNetworkModel } from '../models/custom-network.ts';
import { endpointsKey, endpointsModel } from '../models/endpoints.ts';
import { externalInterfaceKey, externalInterfaceModel } from '../models/external-interface.ts';
import { allocationPoolKey, allocationPoolModel } from '../models/id-alloc.ts';
import { namespaceKey, namespaceModel } from '../models/namespace.ts';
import { nodeKey, nodeModel } from '../models/node.ts';
import { nodeConfigKey, nodeConfigModel } from '../models/node-config.ts';
import { podKey, podModel } from '../models/pod.ts';
import { policyKey, policyModel } from '../models/policy.ts';
import { serviceKey, serviceModel } from '../models/service.ts';
import {
  serviceFunctionChainKey,
  serviceFunctionChainModel,
} from '../models/service-function-chain.ts';
import { vppNodeKey, vppNodeModel } from '../models/vpp-node.ts';

/** Prefix of all keys of these resources in the datastore. */
export const REFLECTOR_PREFIX = '/vnf-agent/contiv-ksr/';

/** The names in a key. */
export interface KeyNames {
  readonly name: string;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
}

export interface Resource<T extends object> {
  /** Names the resource in kube state and events. */
  readonly keyword: string;
  readonly keyPrefix: string;
  readonly model: MessageModel<T>;
  /** The key without the reflector's prefix. */
  key(name: string, namespace: string): string;
  /** Undefined for keys of other resources. */
  parseKey(key: string): KeyNames | undefined;
  /** undefined: a record that cannot be read is as good as none. */
  readonly closed: ClosedForm<T> | undefined;
}

/** Of a resource without whose records more is permitted. */
export interface ClosedForm<T extends object> {
  /**
   * The value in place of one that cannot be read.
   * @param raw what there is in place of its record, of unknown shape
   */
  value(names: KeyNames, reason: string, raw?: unknown): T;
  /** Whether a record with unknown fields can be read without them. */
  isReadable(raw: object): boolean;
  /** Parts that a value does not carry, because they cannot be read; undefined: none. */
  unreadableParts(value: T): string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: resources of many value types are in one list
export type AnyResource = Resource<any>;

interface NameKey {
  build(parts: { readonly name: string; readonly namespace: string }): string;
  parse(key: string): { readonly name: string; readonly namespace?: string } | undefined;
}

function resource<T extends object>(
  keyword: string,
  model: MessageModel<T>,
  key: NameKey,
  closed?: ClosedForm<T>,
): Resource<T> {
  return {
    keyword,
    keyPrefix: model.keyPrefix,
    model,
    key: (name, namespace) => key.build({ name, namespace }),
    parseKey: (text) => {
      const parts = key.parse(text);
      return parts && { name: parts.name, namespace: parts.namespace ?? '' };
    },
    closed,
  };
}

/** The name of a VPP node record is the ID of the node. */
const vppNodeNameKey: NameKey = {
  build: ({ name }) => vppNodeKey.build({ id: name }),
  parse: (key) => {
    const parts = vppNodeKey.parse(key);
    return parts && { name: parts.id };
  },
};

export const resources = {
  vppnode: resource('vppnode', vppNodeModel, vppNodeNameKey),
  nodeconfig: resource('nodeconfig', nodeConfigModel, nodeConfigKey),
  node: resource('node', nodeModel, nodeKey),
  pod: resource('pod', podModel, podKey, closedPods),
  namespace: resource('namespace', namespaceModel, namespaceKey, closedNamespaces),
  policy: resource('policy', policyModel, policyKey, closedPolicies),
  clusternetworkpolicy: resource(
    'clusternetworkpolicy',
    clusterNetworkPolicyModel,
    clusterNetworkPolicyKey,
    closedClusterPolicies,
  ),
  service: resource('service', serviceModel, serviceKey),
  endpoints: resource('endpoints', endpointsModel, endpointsKey),
  customnetwork: resource('customnetwork', customNetworkModel, customNetworkKey),
  'external-interface': resource(
    'external-interface',
    externalInterfaceModel,
    externalInterfaceKey,
  ),
  servicefunctionchain: resource(
    'servicefunctionchain',
    serviceFunctionChainModel,
    serviceFunctionChainKey,
  ),
  'custom-ipam': resource('custom-ipam', customIpamModel, customIpamKey),
  idalloc: resource('idalloc', allocationPoolModel, allocationPoolKey),
} as const;

export const resourceList: readonly AnyResource[] = Object.values(resources);

export interface ResourceKey {
  readonly resource: AnyResource;
  /** The rest of the key after the prefix of the resource. */
  readonly rest: string;
}

const byPrefix = new Map(resourceList.map((entry) => [entry.keyPrefix, entry]));

/** @param key without the reflector's prefix. Undefined for keys of no resource. */
export function parseResourceKey(key: string): ResourceKey | undefined {
  for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
    const found = byPrefix.get(key.slice(0, slash + 1));
    if (found !== undefined) return { resource: found, rest: key.slice(slash + 1) };
  }
  return undefined;
}
