import { ipFamily, parseIp } from '#models/ip.ts';

export interface CollectorAddress {
  readonly address: string;
  readonly family: 4 | 6;
  readonly port: number;
}

const MAX_PORT = 65_535;

/** Of `192.0.2.9:4739` or `[2001:db8::9]:4739`; undefined: it is none. */
export function collectorAddress(text: string): CollectorAddress | undefined {
  const [, inBrackets, plain, digits] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = inBrackets ?? plain ?? '';
  const bytes = parseIp(address);
  const port = Number(digits);
  if (bytes === undefined || port === 0 || port > MAX_PORT) return undefined;
  return { address, family: ipFamily(bytes), port };
}
