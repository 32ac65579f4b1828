/** Ports as the documents of policies write them: `TCP 80,8080-8090,UDP 53`, or `All Connections but` them. */

export const ALL = 'All Connections';
export const NONE = 'No Connections';
const ALL_BUT = `${ALL} but `;

interface ProtocolPorts {
  readonly protocol: string;
  /** `80`, `8080-8090`. */
  readonly ports: readonly string[];
}

function byProtocol(text: string): ProtocolPorts[] {
  const found: { protocol: string; ports: string[] }[] = [];
  for (const part of text.split(',')) {
    const [first = '', second] = part.split(' ');
    if (second !== undefined) found.push({ protocol: first, ports: [second] });
    else found.at(-1)?.ports.push(first);
  }
  return found;
}

/** Ports of one protocol that a cell of the matrix names. */
const NAMED = 2;

/** For a cell: `TCP 80, 443 +3`, `all`, or `–`. */
export function shortPorts(text: string | undefined): string {
  if (text === undefined || text === NONE) return '–';
  if (text === ALL) return 'all';
  if (text.startsWith(ALL_BUT)) return `all but ${shortPorts(text.slice(ALL_BUT.length))}`;
  return byProtocol(text)
    .map(({ protocol, ports }) => {
      const named = ports.map((one) => (one === '1-65535' ? 'all' : one)).slice(0, NAMED);
      const more = ports.length - named.length;
      return `${protocol} ${named.join(', ')}${more > 0 ? ` +${more}` : ''}`;
    })
    .join('; ');
}

/** For sentences: `TCP 80, 443 and UDP 53`. */
export function portsInWords(text: string): string {
  if (text === ALL) return 'everything';
  if (text === NONE) return 'nothing';
  if (text.startsWith(ALL_BUT)) return `everything but ${portsInWords(text.slice(ALL_BUT.length))}`;
  return byProtocol(text)
    .map(({ protocol, ports }) => `${protocol} ${ports.join(', ')}`)
    .join(' and ');
}

/** The first permitted port, such as `TCP/80`; empty for all ports and none, and for protocols that cannot be traced. */
export function firstPort(text: string): string {
  if (text.startsWith(ALL) || text === NONE) return '';
  const found = byProtocol(text).find(({ protocol }) => protocol === 'TCP' || protocol === 'UDP');
  const port = found?.ports[0]?.split('-')[0];
  return found && port !== undefined ? `${found.protocol}/${port}` : '';
}
