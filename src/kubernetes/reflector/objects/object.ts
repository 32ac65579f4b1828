/** Validates data of unknown shape: the result is a Kubernetes object of a known kind, or a rejection. */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { KubeNamespace, KubeNode } from './cluster.ts';
import { KubeClusterNetworkPolicy } from './cluster-network-policy.ts';
import {
  KubeCustomNetwork,
  KubeExternalInterface,
  KubeNodeConfig,
  KubeServiceFunctionChain,
} from './custom-resources.ts';
import { KubeEndpointSlice, KubeEndpoints, serviceOfSlice } from './endpoints.ts';
import { KubePod } from './pod.ts';
import { KubePolicy } from './policy.ts';
import { schemaErrorText } from './schema-error-text.ts';
import { KubeService } from './service.ts';
import {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from './workload.ts';

const schemas = {
  Pod: KubePod,
  Namespace: KubeNamespace,
  Node: KubeNode,
  NetworkPolicy: KubePolicy,
  ClusterNetworkPolicy: KubeClusterNetworkPolicy,
  Service: KubeService,
  Endpoints: KubeEndpoints,
  EndpointSlice: KubeEndpointSlice,
  Deployment,
  ReplicaSet,
  ReplicationController,
  DaemonSet,
  StatefulSet,
  Job,
  CronJob,
  NodeConfig: KubeNodeConfig,
  CustomNetwork: KubeCustomNetwork,
  ExternalInterface: KubeExternalInterface,
  ServiceFunctionChain: KubeServiceFunctionChain,
} as const;

type Kind = keyof typeof schemas;
export type KubeObject = { [K in Kind]: Static<(typeof schemas)[K]> }[Kind];

/** API groups of a kind; kinds of the same name in other groups are different. */
const groups: Readonly<Record<Kind, readonly string[]>> = {
  Pod: [''],
  Namespace: [''],
  Node: [''],
  NetworkPolicy: ['networking.k8s.io', 'extensions'],
  ClusterNetworkPolicy: ['policy.networking.k8s.io'],
  Service: [''],
  Endpoints: [''],
  EndpointSlice: ['discovery.k8s.io'],
  Deployment: ['apps', 'extensions'],
  ReplicaSet: ['apps', 'extensions'],
  ReplicationController: [''],
  DaemonSet: ['apps', 'extensions'],
  StatefulSet: ['apps'],
  Job: ['batch'],
  CronJob: ['batch'],
  NodeConfig: ['nodeconfig.contiv.vpp'],
  CustomNetwork: ['contivpp.io'],
  ExternalInterface: ['contivpp.io'],
  ServiceFunctionChain: ['contivpp.io'],
};

/** Why an object was rejected, and its identity as far as known. */
export interface Rejection {
  /** Empty if the object has none. */
  readonly kind: string;
  /** `<namespace>/<name>`, `<name>`, or empty. */
  readonly name: string;
  readonly reason: string;
}

export type ReadResult =
  | { readonly object: KubeObject; readonly rejection?: undefined }
  | { readonly object?: undefined; readonly rejection: Rejection };

const validators = new Map<Kind, Validator>();

function validatorOf(kind: Kind): Validator {
  let validator = validators.get(kind);
  if (validator === undefined) {
    validator = Compile(schemas[kind] as TSchema);
    validators.set(kind, validator);
  }
  return validator;
}

export function readObject(input: unknown): ReadResult {
  if (!isRecord(input)) return reject(input, 'not a Kubernetes object');
  const { kind, apiVersion } = input;
  if (typeof kind !== 'string' || kind === '') return reject(input, 'kind is missing');
  if (typeof apiVersion !== 'string') return reject(input, 'apiVersion is missing');
  const metadata = isRecord(input['metadata']) ? input['metadata'] : {};
  if ((metadata['name'] ?? '') === '') return reject(input, 'metadata.name is missing');
  if (!isKind(kind)) return reject(input, `objects of kind ${kind} are not supported`);
  if (!groups[kind].includes(groupOf(apiVersion))) {
    return reject(input, `${kind} objects of ${apiVersion} are not supported`);
  }
  const object = withoutNulls(input);
  const validator = validatorOf(kind);
  if (!validator.Check(object))
    return reject(input, schemaErrorText(validator.Errors(object), object));
  const checked = object as KubeObject;
  const fault = validationError(checked);
  if (fault !== undefined) return reject(input, fault);
  return { object: checked };
}

/** Validation beyond the schema, as in Kubernetes. */
function validationError(object: KubeObject): string | undefined {
  if (object.kind === 'EndpointSlice' && serviceOfSlice(object) === undefined) {
    return 'the label kubernetes.io/service-name is missing';
  }
  return undefined;
}

function isRecord(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(schemas, kind);
}

/** Empty for the core group. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

function reject(input: unknown, reason: string): { readonly rejection: Rejection } {
  const object = isRecord(input) ? input : {};
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const { name, namespace } = metadata;
  const kind = object['kind'];
  const parts = [namespace, name].filter((part) => typeof part === 'string' && part !== '');
  return {
    rejection: { kind: typeof kind === 'string' ? kind : '', name: parts.join('/'), reason },
  };
}

/**
 * Removes null fields, and replaces null list elements by empty objects, as Kubernetes reads them.
 * Returns the same object if it contains no null.
 */
function withoutNulls(input: unknown): unknown {
  if (Array.isArray(input)) {
    let copy: unknown[] | undefined;
    for (const [at, element] of input.entries()) {
      const cleaned = element === null ? {} : withoutNulls(element);
      if (cleaned === element) continue;
      copy ??= [...input];
      copy[at] = cleaned;
    }
    return copy ?? input;
  }
  if (!isRecord(input)) return input;
  // few objects of a large list have a null: nothing is created for the others
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(input)) {
    const value = input[name];
    const cleaned = value === null ? undefined : withoutNulls(value);
    if (cleaned === value) continue;
    changed ??= new Map();
    changed.set(name, cleaned);
  }
  if (changed === undefined) return input;
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, changed.get(name) ?? value]),
  );
}
