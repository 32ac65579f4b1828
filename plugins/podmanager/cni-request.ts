import { defineError } from '#infra/errors/errors.ts';
import type { CNIRequest } from '#models/cni/cni.gen.ts';
import type { AddPodPayload } from './api.ts';

export const CniRequestError = defineError({
  name: 'CniRequestError',
  code: 'CV_CNI_REQUEST',
  remedy:
    'Check the CNI configuration of the node: the runtime must pass the name and namespace of the pod.',
});

const DEFAULT_INTERFACE = 'eth0';

/** Valid forms, by the standards, of values that become part of keys, names and log lines. */
const forms = {
  podName: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
  containerId: /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/,
  interfaceName: /^(?!\.{1,2}$)[^\s/:\p{Cc}]{1,15}$/u,
  path: /^[^\p{Cc}]*$/u,
} as const;

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
      where: request.container_id === '' ? undefined : `container ${request.container_id}`,
    });
  const interfaceName = request.interface_name || DEFAULT_INTERFACE;
  check('container_id', request.container_id, forms.containerId);
  if (name !== '') check('K8S_POD_NAME', name, forms.podName);
  if (namespace !== '') check('K8S_POD_NAMESPACE', namespace, forms.podName);
  check('interface_name', interfaceName, forms.interfaceName);
  check('network_namespace', request.network_namespace, forms.path);
  return {
    pod: { namespace, name },
    podUid: values.get('K8S_POD_UID') || undefined,
    containerId: request.container_id,
    interfaceName,
    network: networkName(request.extra_nw_config),
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

function check(field: string, value: string, form: RegExp): void {
  if (!form.test(value))
    throw new CniRequestError(`the CNI request has an invalid ${field}: ${JSON.stringify(value)}`);
}
