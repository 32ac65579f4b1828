/** Names of ends of connections: `default/web[Deployment]`, `10.0.0.0-10.255.255.255[External]`. */

export interface EndName {
  /** Empty: outside of the cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
}

export function endName(text: string): EndName {
  const [, path = text, kind = ''] = /^(.*)\[(\w+)\]$/.exec(text) ?? [];
  if (kind === 'External') return { namespace: '', name: rangeName(path), kind: 'outside' };
  const slash = path.indexOf('/');
  return { namespace: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1), kind };
}

const everything: readonly string[] = [
  '0.0.0.0-255.255.255.255',
  '::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

function rangeName(range: string): string {
  if (everything.includes(range)) return range.includes('.') ? 'any IPv4' : 'any IPv6';
  const [first, last] = range.split('-');
  return first === last ? range.slice(0, range.indexOf('-')) : range;
}
