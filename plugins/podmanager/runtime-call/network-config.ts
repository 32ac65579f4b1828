/** The network configuration that the runtime writes to the standard input of contiv-cni. */
import { CniError } from './cni-error.ts';

export interface NetworkConfig {
  /** As written; may be an unsupported version. */
  readonly cniVersion: string;
  readonly name: string;
  /** IPAM plugin that allocates the addresses; undefined: the agent allocates them. */
  readonly ipam: { readonly type: string } | undefined;
  /** Whether the configuration contains the result of an earlier call. */
  readonly hasPrevResult: boolean;
  /** For GC: the attachments that the runtime knows; undefined: the list is missing. */
  readonly validAttachments: readonly ValidAttachment[] | undefined;
  /** The whole configuration, as written and parsed. */
  readonly text: string;
  readonly document: Readonly<Record<string, unknown>>;
}

export interface ValidAttachment {
  readonly containerId: string;
  readonly interfaceName: string;
}

/** Version of a configuration without one, according to the specification. */
const OLDEST = '0.1.0';

const NAME_FORM = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** @throws CniError `decode` for invalid JSON, `config` for an invalid configuration */
export function readNetworkConfig(text: string): NetworkConfig {
  const document = object(parse(text), 'the network configuration');
  const name = optional(document, 'name', 'string') ?? '';
  if (!NAME_FORM.test(name))
    throw invalidField('name', 'letters, digits and _ . -', document['name']);
  // Only contiv-cni uses it; another value than a string would be replaced by the default there.
  optional(document, 'logFile', 'string');
  return {
    cniVersion: optional(document, 'cniVersion', 'string') || OLDEST,
    name,
    ipam: readIpam(document['ipam']),
    hasPrevResult: (document['prevResult'] ?? undefined) !== undefined,
    validAttachments: readValidAttachments(document),
    text,
    document,
  };
}

/** The version for the error result of an invalid configuration. */
export function versionOf(text: string): string | undefined {
  try {
    const { cniVersion } = JSON.parse(text) as { cniVersion?: unknown };
    return typeof cniVersion === 'string' ? cniVersion : undefined;
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CniError('decode', 'the network configuration is not valid JSON', String(error));
  }
}

function readIpam(given: unknown): NetworkConfig['ipam'] {
  if (given === undefined || given === null) return undefined;
  const ipam = object(given, 'ipam');
  const type = optional(ipam, 'type', 'string') ?? '';
  if (type === '') return undefined;
  // The name is searched in CNI_PATH, so it must not contain a path.
  if (type.includes('/')) throw invalidField('ipam.type', 'the name of a plugin', type);
  return { ...ipam, type };
}

/**
 * CIDRs of an interface of the pod in a result of any version. CIDRs of other interfaces belong to
 * other plugins of the chain; a CIDR without an interface belongs to this plugin.
 * @throws CniError for an invalid result
 */
export function addressesOn(interfaceName: string, result: unknown): readonly string[] {
  const { ips, interfaces } = object(result, 'prevResult');
  const names = list(interfaces, 'prevResult.interfaces').map((one) => {
    const holder = object(one, 'prevResult.interfaces');
    return optional(holder, 'sandbox', 'string') ? optional(holder, 'name', 'string') : undefined;
  });
  return list(ips, 'prevResult.ips')
    .map((one) => object(one, 'prevResult.ips'))
    .filter(({ interface: index }) => typeof index !== 'number' || names[index] === interfaceName)
    .map((one) => optional(one, 'address', 'string') ?? '');
}

/** libcni uses both names, and writes null for an empty list. */
function readValidAttachments(
  document: Readonly<Record<string, unknown>>,
): readonly ValidAttachment[] | undefined {
  const where = ['cni.dev/valid-attachments', 'cni.dev/attachments'].find((key) => key in document);
  if (where === undefined) return undefined;
  return list(document[where], where).map((one) => {
    const attachment = object(one, where);
    const containerId = optional(attachment, 'containerID', 'string');
    const interfaceName = optional(attachment, 'ifname', 'string');
    if (!containerId || !interfaceName)
      throw invalidField(where, 'containerID and ifname in each attachment', one);
    return { containerId, interfaceName };
  });
}

function object(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidField(where, 'an object', value);
  return value as Record<string, unknown>;
}

function list(value: unknown, where: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidField(where, 'a list', value);
  return value;
}

function optional(
  holder: Readonly<Record<string, unknown>>,
  key: string,
  type: 'string',
): string | undefined {
  const value = holder[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw invalidField(key, 'a string', value);
  return value as string;
}

function invalidField(where: string, expected: string, given: unknown): CniError {
  return new CniError(
    'config',
    `${where} is invalid: expected ${expected}`,
    given === undefined ? 'the field is missing' : `found ${JSON.stringify(given)}`,
  );
}
