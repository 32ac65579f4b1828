import { type Cidr, parseCidr, parseIp } from '#models/ip.ts';

export interface ConfigProblem {
  readonly level: 'error' | 'warning';
  /** Path of the key, for example `ipamConfig.vxlanCIDR` or `nodeConfig.0.gateway`. */
  readonly path: string;
  readonly text: string;
}

export class ProblemList {
  readonly found: ConfigProblem[] = [];

  error(path: string, text: string): void {
    this.found.push({ level: 'error', path, text });
  }

  warning(path: string, text: string): void {
    this.found.push({ level: 'warning', path, text });
  }

  cidr(path: string, text: string): Cidr | undefined {
    const cidr = parseCidr(text);
    if (!cidr) this.error(path, `"${text}" is not a CIDR (address with prefix length)`);
    return cidr;
  }

  ip(path: string, text: string): void {
    if (!parseIp(text)) this.error(path, `"${text}" is not an IP address`);
  }
}
