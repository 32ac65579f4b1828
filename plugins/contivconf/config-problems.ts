/**
 * Validation of the configuration beyond the types of its keys. An error stops the start: running
 * with an unintended default is worse.
 */
import { type Cidr, contains, ipFamily, parseCidr, parseIp } from '#models/ip.ts';
import type { ContivConfig, NodeSection } from './config.ts';
import { addressList, nodeSection } from './node-section.ts';
import { podFamily } from './node-settings.ts';
import { unsupported } from './unsupported-keys.ts';

export interface ConfigProblem {
  readonly level: 'error' | 'warning';
  /** Path of the key, for example `ipamConfig.vxlanCIDR` or `nodeConfig.0.gateway`. */
  readonly path: string;
  readonly text: string;
}

/** Sections of other nodes are not validated: an error there must not stop this node. */
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
    if (!cidr) this.error(path, `"${text}" is not a CIDR (address with prefix length)`);
    return cidr;
  }

  ip(path: string, text: string): void {
    if (!parseIp(text)) this.error(path, `"${text}" is not an IP address`);
  }
}

const rxModes = ['', 'default', 'polling', 'interrupt', 'adaptive'];

/** Minimum MTU of a link in Linux that has addresses of the family. */
const minMtu = { 4: 68, 6: 1280 } as const;

/** Of a TAP. */
const MAX_MTU = 65_521;

/** Of a ring of virtio. */
const MAX_RING_SIZE = 32_768;
/** A ring of fewer slots cannot take one packet with segmentation. */
const MIN_RING_SIZE = 32;

function interfaceProblems(config: ContivConfig): ConfigProblem[] {
  const problems = new ProblemList();
  checkMtu(problems, config);
  checkRings(problems, config);
  if (config.podVRFID === config.mainVRFID)
    problems.error('podVRFID', `${config.podVRFID} is the mainVRFID, too: they must differ`);
  if (!rxModes.includes(config.interfaceRxMode))
    problems.warning(
      'interfaceRxMode',
      `"${config.interfaceRxMode}" is not an RX mode of VPP; using its default. Valid modes: polling, interrupt, adaptive`,
    );
  if (config.stnVersion > 2)
    problems.warning('stnVersion', `version ${config.stnVersion} does not exist; using 1`);
  if (!config.useTAPInterfaces && !config.tcpChecksumOffloadDisabled)
    problems.warning(
      'tcpChecksumOffloadDisabled',
      'checksum offload stays disabled: VPP does not complete the checksums of packets from VETH pairs',
    );
  if (!config.useTAPInterfaces && config.enableGSO)
    problems.warning('enableGSO', 'has no effect with useTAPInterfaces: false');
  return problems.found;
}

function checkMtu(problems: ProblemList, config: ContivConfig): void {
  const { mtuSize } = config;
  const family = podFamily(config);
  const min = minMtu[family];
  if (mtuSize !== 0 && mtuSize < min)
    problems.error('mtuSize', `${mtuSize} is too small: the minimum is ${min} with IPv${family}`);
  if (mtuSize > MAX_MTU)
    problems.error('mtuSize', `${mtuSize} is too large: the maximum of Linux is ${MAX_MTU}`);
}

function checkRings(problems: ProblemList, config: ContivConfig): void {
  if (!config.useTAPInterfaces) return;
  for (const key of ['tapv2RxRingSize', 'tapv2TxRingSize'] as const) {
    const size = config[key];
    const isPowerOf2 = (size & (size - 1)) === 0;
    if (size !== 0 && isPowerOf2 && size < MIN_RING_SIZE)
      problems.error(key, `${size} is too small: the minimum is ${MIN_RING_SIZE}`);
    if (!isPowerOf2 || size > MAX_RING_SIZE)
      problems.error(key, `${size} is not a power of 2 up to ${MAX_RING_SIZE}`);
  }
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
  const check = (key: keyof typeof ipam, text: string, counts: boolean): void => {
    const path = `ipamConfig.${key}`;
    const cidr = problems.cidr(path, text);
    if (cidr && counts) used.set(key, { path, text, cidr });
  };
  const usesContivCidr = ipam.contivCIDR !== '';
  if (usesContivCidr) check('contivCIDR', ipam.contivCIDR, true);
  check('podSubnetCIDR', ipam.podSubnetCIDR, !usesContivCidr);
  check('vppHostSubnetCIDR', ipam.vppHostSubnetCIDR, !usesContivCidr);
  check('vxlanCIDR', ipam.vxlanCIDR, !usesContivCidr && config.nodeToNodeTransport !== 'nooverlay');
  check('serviceCIDR', ipam.serviceCIDR, true);
  if (ipam.nodeInterconnectCIDR !== '')
    check('nodeInterconnectCIDR', ipam.nodeInterconnectCIDR, true);
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
    problems.error(all.path, `${all.text} is too small: it must have at least 18 host bits`);
  // the network's own address, and two nodes
  for (const key of ['vxlanCIDR', 'nodeInterconnectCIDR']) {
    const network = used.get(key);
    if (network && bits(network.cidr) - network.cidr.length < 2)
      problems.error(
        network.path,
        `${network.text} is too small: it has no addresses for two nodes`,
      );
  }
  const parts = [
    ['podSubnetCIDR', 'podSubnetOneNodePrefixLen', 3],
    ['vppHostSubnetCIDR', 'vppHostSubnetOneNodePrefixLen', 2],
  ] as const;
  for (const [key, lengthKey, room] of parts) {
    const whole = used.get(key);
    if (!whole) continue;
    const length = ipam[lengthKey];
    const max = bits(whole.cidr) - room;
    if (length <= whole.cidr.length || length > max)
      problems.error(
        `ipamConfig.${lengthKey}`,
        `${length} does not divide ${key} ${whole.text} into subnets; it must be ${whole.cidr.length + 1} to ${max}`,
      );
  }
}

/** Networks that are routed in one table must have the same family; node addresses may differ. */
function families(problems: ProblemList, used: ReadonlyMap<string, NamedCidr>): void {
  const pods = used.get('contivCIDR') ?? used.get('podSubnetCIDR');
  if (!pods) return;
  const family = ipFamily(pods.cidr.address);
  for (const key of ['vppHostSubnetCIDR', 'vxlanCIDR', 'serviceCIDR']) {
    const other = used.get(key);
    if (other && ipFamily(other.cidr.address) !== family)
      problems.error(
        other.path,
        `${other.text} is not IPv${family}, but the pod subnet ${pods.text} is`,
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
        'vmxnet3 is not supported yet: VPP must create the interface itself',
      );
  };
  entry(`${at}.mainVPPInterface`, section.mainVPPInterface);
  for (const [number, other] of section.otherVPPInterfaces.entries()) {
    const path = `${at}.otherVPPInterfaces.${number}`;
    if (other.interfaceName === '') problems.error(path, 'interfaceName is missing');
    entry(path, other);
  }
  if (section.gateway !== '') problems.ip(`${at}.gateway`, section.gateway);
  for (const [number, { nodeName: name }] of config.nodeConfig.entries())
    if (number !== index && name === nodeName)
      problems.warning(`nodeConfig.${number}`, `a second section for node ${nodeName} is ignored`);
  return problems.found;
}
