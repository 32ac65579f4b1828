/** A service at sockets in words: by which addresses processes of the node reach which backends. */

const SERVICE_KEY = 'config/linux/socket/v2/service/';
/** More are not readable; the value has all. */
const MAX_BACKENDS = 20;

interface SocketServiceValue {
  readonly mappings: readonly SocketMapping[];
}

interface SocketMapping {
  readonly frontends: readonly {
    readonly address: string;
    readonly port: number;
    readonly protocol: string;
    readonly scope: string;
  }[];
  readonly backends: readonly {
    readonly address: string;
    readonly port: number;
    readonly weight: number;
  }[];
  readonly affinity_timeout: number;
  readonly host_source: string;
}

export interface MappingInWords {
  /** Addresses that processes ask. */
  readonly asked: readonly string[];
  readonly backends: readonly string[];
  readonly affinity: string;
  /** Address that processes of the host have at the backends. */
  readonly hostSource: string;
}

/** undefined: the value is no service at sockets. */
export function mappingsInWords(key: string, value: unknown): MappingInWords[] | undefined {
  if (!key.startsWith(SERVICE_KEY) || value === null) return undefined;
  return (value as SocketServiceValue).mappings.map(
    ({ frontends, backends, affinity_timeout, host_source }) => ({
      asked: frontends.map(
        ({ address, port, protocol, scope }) =>
          `${nodeAddresses[scope] ?? hostText(address)}:${port} ${protocol}`,
      ),
      backends: backendTexts(backends),
      affinity: affinity_timeout === 0 ? 'none' : `${affinity_timeout} s for each pod`,
      hostSource: host_source || 'that of the link to VPP',
    }),
  );
}

const nodeAddresses: Readonly<Record<string, string>> = {
  THIS_NODE: 'any address of this node',
  OTHER_NODES: 'any address of another node',
};

function backendTexts(backends: SocketMapping['backends']): string[] {
  if (backends.length === 0) return ['no backend: refused'];
  const sum = backends.reduce((all, { weight }) => all + weight, 0);
  const areEqual = backends.every(({ weight }) => weight === backends[0]?.weight);
  const texts = backends.slice(0, MAX_BACKENDS).map(({ address, port, weight }) => {
    const share = areEqual ? '' : ` (${Math.round((100 * weight) / sum)} %)`;
    return `${hostText(address)}:${port}${share}`;
  });
  const more = backends.length - texts.length;
  return more > 0 ? [...texts, `${more} more`] : texts;
}

function hostText(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
