import { defineError } from '#infra/errors/errors.ts';
import type { CNIRequest } from '#models/cni/cni.gen.ts';
import type { AddPodPayload } from './api.ts';

export const CniRequestError = defineError({
  name: 'CniRequestError',
  code: 'CV_CNI_REQUEST',
  remedy:
    'Check the CNI configuration of the node: the runtime must pass the name and namespace of the pod.',
});

export const HostNamespaceError = defineError({
  name: 'HostNamespaceError',
  code: 'CV_CNI_HOST_NAMESPACE',
  isRetriable: false,
  remedy:
    'Pods with hostNetwork are not attached by CNI. Check which program called it, and with which CNI_NETNS.',
});

const DEFAULT_INTERFACE = 'eth0';

/** Characters and size of values that become part of keys, names and log lines. */
const forms = {
  podName: { pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, bytes: 253 },
  podNamespace: { pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, bytes: 63 },
  podUid: { pattern: /^[^\p{Cc}]*$/u, bytes: 253 },
  containerId: { pattern: /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, bytes: 253 },
  // the limit of the kernel
  interfaceName: { pattern: /^(?!\.{1,2}$)[^\s/:\p{Cc}]+$/u, bytes: 15 },
  network: { pattern: /^[^\p{Cc}]*$/u, bytes: 253 },
  // absolute, and without `..`: another path must not lead to the same namespace by accident
  path: { pattern: /^(?!.*\/\.\.(\/|$))\/[^\p{Cc}]*$/u, bytes: 4095 },
} as const;

/** Characters of an invalid value that the error shows. */
const SHOWN_CHARACTERS = 100;

/** `K=V;K=V`; a value may hold further equals signs, later keys win. */
export function parseArguments(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0) values.set(pair.slice(0, equals).trim(), pair.slice(equals + 1).trim());
  }
  return values;
}

/** A required field of the request, or the pod's name and namespace. */
type RequiredField = 'container_id' | 'network_namespace' | 'pod';

/**
 * Parses a CNI request.
 * @param required fields that must not be empty
 * @throws CniRequestError listing all missing fields, or naming the first invalid one
 */
export function parseRequest(
  request: CNIRequest,
  required: readonly RequiredField[],
): AddPodPayload {
  const values = parseArguments(request.extra_arguments);
  const name = values.get('K8S_POD_NAME') ?? '';
  const namespace = values.get('K8S_POD_NAMESPACE') ?? '';
  const missing = required.flatMap((field) => {
    if (field !== 'pod') return request[field] === '' ? [field] : [];
    return [
      ...(name === '' ? ['K8S_POD_NAME in extra_arguments'] : []),
      ...(namespace === '' ? ['K8S_POD_NAMESPACE in extra_arguments'] : []),
    ];
  });
  if (missing.length > 0)
    throw new CniRequestError(`the CNI request lacks ${missing.join(', ')}`, {
      where: request.container_id === '' ? undefined : `container ${shown(request.container_id)}`,
    });
  const interfaceName = request.interface_name || DEFAULT_INTERFACE;
  check('container_id', request.container_id, forms.containerId);
  if (name !== '') check('K8S_POD_NAME', name, forms.podName);
  if (namespace !== '') check('K8S_POD_NAMESPACE', namespace, forms.podNamespace);
  check('interface_name', interfaceName, forms.interfaceName);
  const podUid = values.get('K8S_POD_UID') || undefined;
  const network = networkName(request.extra_nw_config);
  // DEL needs neither, and must not fail for what ADD has refused
  if (required.includes('network_namespace')) {
    check('K8S_POD_UID', podUid ?? '', forms.podUid);
    check('network name', network ?? '', forms.network);
    check('network_namespace', request.network_namespace, forms.path);
  }
  return {
    pod: { namespace, name },
    podUid,
    containerId: request.container_id,
    interfaceName,
    network,
    networkNamespace: request.network_namespace,
    ipamType: request.ipam_type,
    ipamData: request.ipam_data,
  };
}

/** Name in a network configuration; undefined if the configuration is missing or invalid. */
function networkName(config: string): string | undefined {
  try {
    const { name } = JSON.parse(config) as { name?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    return undefined;
  }
}

function check(
  field: string,
  value: string,
  { pattern, bytes }: (typeof forms)[keyof typeof forms],
) {
  const size = Buffer.byteLength(value);
  if (size > bytes)
    throw new CniRequestError(
      `the CNI request has an invalid ${field}: ${size} bytes, the limit is ${bytes}: ${shown(value)}`,
    );
  if (!pattern.test(value))
    throw new CniRequestError(`the CNI request has an invalid ${field}: ${shown(value)}`);
}

function shown(value: string): string {
  const text = JSON.stringify(value.slice(0, SHOWN_CHARACTERS));
  return value.length > SHOWN_CHARACTERS ? `${text}…` : text;
}
