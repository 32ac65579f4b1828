/**
 * What is wrong with a configuration beyond the types of its keys. An error stops the start: to run
 * on a default that nobody meant is worse.
 */
import { type Cidr, contains, ipFamily, parseCidr, parseIp } from '#models/ip.ts';
import type { ContivConfig, NodeSection } from './config.ts';
import { addressList, nodeSection } from './node-section.ts';
import { unsupported } from './unsupported-keys.ts';

export interface ConfigProblem {
  readonly level: 'error' | 'warning';
  /** Path of the key, for example `ipamConfig.vxlanCIDR` or `nodeConfig.0.gateway`. */
  readonly path: string;
  readonly text: string;
}

/** Sections of other nodes are not looked at: a slip there must not stop this node. */
export function configProblems(config: ContivConfig, nodeName: string): ConfigProblem[] {
  return [
    ...interfaceProblems(config),
    ...subnetProblems(config),
    ...sectionProblems(config, nodeName),
    ...unsupported(config).map(
      ({ path, text }): ConfigProblem => ({ level: 'warning', path, text }),
    ),
  ];
}

class ProblemList {
  readonly found: ConfigProblem[] = [];

  error(path: string, text: string): void {
    this.found.push({ level: 'error', path, text });
  }

  warning(path: string, text: string): void {
    this.found.push({ level: 'warning', path, text });
  }

  cidr(path: string, text: string): Cidr | undefined {
    const cidr = parseCidr(text);
    if (!cidr) this.error(path, `"${text}" is not an address with prefix length`);
    return cidr;
  }

  ip(path: string, text: string): void {
    if (!parseIp(text)) this.error(path, `"${text}" is not an IP address`);
  }
}

const rxModes = ['', 'default', 'polling', 'interrupt', 'adaptive'];

function interfaceProblems(config: ContivConfig): ConfigProblem[] {
  const problems = new ProblemList();
  if (!rxModes.includes(config.interfaceRxMode))
    problems.warning(
      'interfaceRxMode',
      `"${config.interfaceRxMode}" is no mode of VPP, its default is used; there are polling, interrupt and adaptive`,
    );
  if (config.stnVersion > 2)
    problems.warning('stnVersion', `there is no version ${config.stnVersion}, 1 is used`);
  return problems.found;
}

interface NamedCidr {
  readonly path: string;
  readonly text: string;
  readonly cidr: Cidr;
}

function subnetProblems(config: ContivConfig): ConfigProblem[] {
  const problems = new ProblemList();
  const { ipamConfig: ipam } = config;
  const used = new Map<string, NamedCidr>();
  const look = (key: keyof typeof ipam, text: string, counts: boolean): void => {
    const path = `ipamConfig.${key}`;
    const cidr = problems.cidr(path, text);
    if (cidr && counts) used.set(key, { path, text, cidr });
  };
  const dissected = ipam.contivCIDR !== '';
  if (dissected) look('contivCIDR', ipam.contivCIDR, true);
  look('podSubnetCIDR', ipam.podSubnetCIDR, !dissected);
  look('vppHostSubnetCIDR', ipam.vppHostSubnetCIDR, !dissected);
  look('vxlanCIDR', ipam.vxlanCIDR, !dissected && config.nodeToNodeTransport !== 'nooverlay');
  look('serviceCIDR', ipam.serviceCIDR, true);
  if (ipam.nodeInterconnectCIDR !== '')
    look('nodeInterconnectCIDR', ipam.nodeInterconnectCIDR, true);
  if (ipam.defaultGateway !== '') problems.ip('ipamConfig.defaultGateway', ipam.defaultGateway);
  for (const [key, value] of Object.entries(ipam.srv6))
    if (typeof value === 'string') problems.cidr(`ipamConfig.srv6.${key}`, value);

  sizes(problems, used, ipam);
  families(problems, used);
  overlaps(problems, [...used.values()]);
  return problems.found;
}

function sizes(
  problems: ProblemList,
  used: ReadonlyMap<string, NamedCidr>,
  ipam: ContivConfig['ipamConfig'],
): void {
  const all = used.get('contivCIDR');
  if (all && bits(all.cidr) - all.cidr.length < 18)
    problems.error(all.path, `${all.text} is too small: at least 18 bits are needed`);
  const parts = [
    ['podSubnetCIDR', 'podSubnetOneNodePrefixLen', 3],
    ['vppHostSubnetCIDR', 'vppHostSubnetOneNodePrefixLen', 2],
  ] as const;
  for (const [key, lengthKey, room] of parts) {
    const whole = used.get(key);
    if (!whole) continue;
    const length = ipam[lengthKey];
    const most = bits(whole.cidr) - room;
    if (length <= whole.cidr.length || length > most)
      problems.error(
        `ipamConfig.${lengthKey}`,
        `${length} does not cut ${key} ${whole.text} into parts: ${whole.cidr.length + 1} to ${most} do`,
      );
  }
}

/** What is routed in one table must be of one family; addresses of the nodes may differ. */
function families(problems: ProblemList, used: ReadonlyMap<string, NamedCidr>): void {
  const pods = used.get('contivCIDR') ?? used.get('podSubnetCIDR');
  if (!pods) return;
  const family = ipFamily(pods.cidr.address);
  for (const key of ['vppHostSubnetCIDR', 'vxlanCIDR', 'serviceCIDR']) {
    const other = used.get(key);
    if (other && ipFamily(other.cidr.address) !== family)
      problems.error(
        other.path,
        `${other.text} is not IPv${family}, but the pods are (${pods.text})`,
      );
  }
}

function overlaps(problems: ProblemList, all: readonly NamedCidr[]): void {
  for (const [position, one] of all.entries())
    for (const other of all.slice(position + 1))
      if (contains(one.cidr, other.cidr.address) || contains(other.cidr, one.cidr.address))
        problems.warning(other.path, `${other.text} overlaps with ${one.path} ${one.text}`);
}

function bits(cidr: Cidr): number {
  return cidr.address.length * 8;
}

function sectionProblems(config: ContivConfig, nodeName: string): ConfigProblem[] {
  const problems = new ProblemList();
  const found = nodeSection(config, nodeName);
  if (!found) return [];
  const { section, index } = found;
  const at = `nodeConfig.${index}`;
  const entry = (path: string, { interfaceName, ip }: NodeSection['mainVPPInterface']): void => {
    for (const address of addressList(ip)) problems.cidr(`${path}.ip`, address);
    if (interfaceName.startsWith('vmxnet3'))
      problems.warning(
        `${path}.interfaceName`,
        'vmxnet3 is not supported yet: VPP has to have made the interface by itself',
      );
  };
  entry(`${at}.mainVPPInterface`, section.mainVPPInterface);
  for (const [number, other] of section.otherVPPInterfaces.entries()) {
    const path = `${at}.otherVPPInterfaces.${number}`;
    if (other.interfaceName === '') problems.error(path, 'has no interfaceName');
    entry(path, other);
  }
  if (section.gateway !== '') problems.ip(`${at}.gateway`, section.gateway);
  for (const [number, { nodeName: name }] of config.nodeConfig.entries())
    if (number !== index && name === nodeName)
      problems.warning(`nodeConfig.${number}`, `a second section for node ${nodeName} is ignored`);
  return problems.found;
}
