import { readFileSync } from 'node:fs';

/** Bits of capabilities(7) that root lacks on some machines. */
const bits = { SYS_RESOURCE: 24n } as const;

export type Capability = keyof typeof bits;

/** Whether this process has it. */
export function hasCapability(name: Capability): boolean {
  const status = readFileSync('/proc/self/status', 'utf8');
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(status) ?? [];
  return ((BigInt(`0x${effective}`) >> bits[name]) & 1n) === 1n;
}
