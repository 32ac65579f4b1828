import { type Cidr, parseCidr } from '#models/ip.ts';
import { gatewayList } from './gateways.ts';

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

  gateways(path: string, text: string): void {
    gatewayList(text, (part, fault) => this.error(path, `"${part}" ${fault}`));
  }
}
