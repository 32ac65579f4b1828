/**
 * Validation of the subnets under `ipamConfig`. Each of them has one network, or one of each family. The families of
 * the pods are those of `podSubnetCIDR`, the first one is the primary one; every other subnet that pods need has
 * a network of each of them.
 */
import { type Cidr, contains, type IpFamily, ipFamily } from '#models/ip.ts';
import type { ContivConfig } from './config.ts';
import { ipamConfig } from './global-settings.ts';
import { type DividedSubnet, nodePrefixLength } from './node-prefix-length.ts';
import { addressList } from './node-section.ts';
import { type ConfigProblem, ProblemList } from './problem-list.ts';

type IpamKeys = ContivConfig['ipamConfig'];

interface Network {
  readonly path: string;
  readonly text: string;
  readonly cidr: Cidr;
  readonly family: IpFamily;
}

/** Families of the pods, the primary one first. */
export function podFamilies({
  ipamConfig: ipam,
}: ContivConfig): readonly [IpFamily, ...IpFamily[]] {
  const networks = addressList(ipam.contivCIDR || ipam.podSubnetCIDR);
  const [first = 4, ...more] = networks.map((text): IpFamily => (text.includes(':') ? 6 : 4));
  return [first, ...more];
}

/** A network of services and one of the nodes may overlap: Kubernetes uses only a part of the first one. */
const mayOverlap = ['ipamConfig.serviceCIDR', 'ipamConfig.nodeInterconnectCIDR'];

export function subnetProblems(config: ContivConfig): ConfigProblem[] {
  const problems = new ProblemList();
  const { ipamConfig: ipam } = config;
  const used = new Map<string, readonly Network[]>();
  const check = (key: keyof IpamKeys, counts: boolean): void => {
    const networks = networksOf(problems, `ipamConfig.${key}`, String(ipam[key]));
    if (counts && networks.length > 0) used.set(key, networks);
  };
  const usesContivCidr = ipam.contivCIDR !== '';
  if (usesContivCidr) check('contivCIDR', true);
  check('podSubnetCIDR', !usesContivCidr);
  check('vppHostSubnetCIDR', !usesContivCidr);
  check('vxlanCIDR', !usesContivCidr && config.nodeToNodeTransport !== 'nooverlay');
  check('serviceCIDR', true);
  if (ipam.nodeInterconnectCIDR !== '') check('nodeInterconnectCIDR', true);
  problems.gateways('ipamConfig.defaultGateway', ipam.defaultGateway);
  for (const [key, value] of Object.entries(ipam.srv6))
    if (typeof value === 'string') problems.cidr(`ipamConfig.srv6.${key}`, value);

  sizes(problems, used, config);
  families(problems, used);
  overlaps(problems, [...used.values()].flat());
  return problems.found;
}

function networksOf(problems: ProblemList, path: string, text: string): Network[] {
  const texts = addressList(text);
  // an empty text is no network
  const found = (texts.length === 0 ? [text] : texts).flatMap((one): Network[] => {
    const cidr = problems.cidr(path, one);
    return cidr ? [{ path, text: one, cidr, family: ipFamily(cidr.address) }] : [];
  });
  const [first, second] = found;
  if (found.length > 2)
    problems.error(path, `${text} has ${found.length} networks: there is one of each family`);
  else if (first !== undefined && first.family === second?.family)
    problems.error(
      path,
      `${text} has two networks of IPv${first.family}: there is one of each family`,
    );
  return found;
}

function sizes(
  problems: ProblemList,
  used: ReadonlyMap<string, readonly Network[]>,
  config: ContivConfig,
): void {
  for (const { path, text, cidr } of used.get('contivCIDR') ?? [])
    if (bits(cidr) - cidr.length < 18)
      problems.error(path, `${text} is too small: it must have at least 18 host bits`);
  // the network's own address, and two nodes
  for (const key of ['vxlanCIDR', 'nodeInterconnectCIDR'])
    for (const { path, text, cidr } of used.get(key) ?? [])
      if (bits(cidr) - cidr.length < 2)
        problems.error(path, `${text} is too small: it has no addresses for two nodes`);
  divisions(problems, used, config, 'podSubnet', 3);
  divisions(problems, used, config, 'vppHostSubnet', 2);
}

/** @param spare host bits that the subnet of one node needs */
function divisions(
  problems: ProblemList,
  used: ReadonlyMap<string, readonly Network[]>,
  config: ContivConfig,
  subnet: DividedSubnet,
  spare: number,
): void {
  const [primary] = podFamilies(config);
  for (const { text, cidr, family } of used.get(`${subnet}CIDR`) ?? []) {
    const { length, key } = nodePrefixLength(
      ipamConfig(config),
      subnet,
      family,
      family === primary,
    );
    const max = bits(cidr) - spare;
    if (length <= cidr.length || length > max)
      problems.error(
        `ipamConfig.${key}`,
        `${length} does not divide ${subnet}CIDR ${text} into subnets; it must be ${cidr.length + 1} to ${max}`,
      );
  }
}

/** Node addresses may have other families than the pods. */
function families(problems: ProblemList, used: ReadonlyMap<string, readonly Network[]>): void {
  const pods = used.get('contivCIDR') ?? used.get('podSubnetCIDR');
  const [primary] = pods ?? [];
  if (pods === undefined || primary === undefined) return;
  const isOfPods = ({ family }: Network): boolean => pods.some((one) => one.family === family);
  for (const key of ['vppHostSubnetCIDR', 'vxlanCIDR', 'serviceCIDR']) {
    const networks = used.get(key) ?? [];
    const [other] = networks.filter((one) => !isOfPods(one));
    // services of the second family need not exist
    const [lacking] =
      networks.length === 0
        ? []
        : (key === 'serviceCIDR' ? [primary] : pods).filter(({ family }) =>
            networks.every((one) => one.family !== family),
          );
    if (other !== undefined)
      problems.error(
        other.path,
        `${other.text} is not IPv${primary.family}, but the pod subnet ${textOf(pods)} is`,
      );
    else if (lacking !== undefined)
      problems.error(
        networks[0]!.path,
        `${textOf(networks)} has no network of IPv${lacking.family}, but the pod subnet ${textOf(pods)} has`,
      );
  }
}

function textOf(networks: readonly Network[]): string {
  return networks.map(({ text }) => text).join(',');
}

/** In a configuration with two families they are refused; with one they always were a warning. */
function overlaps(problems: ProblemList, all: readonly Network[]): void {
  const isDual = all.some((one) => all.some((other) => one !== other && one.path === other.path));
  for (const [position, one] of all.entries())
    for (const other of all.slice(position + 1)) {
      if (one.path === other.path || !overlap(one.cidr, other.cidr)) continue;
      const text = `${other.text} overlaps with ${one.path} ${one.text}`;
      const isPermitted = [one, other].every(({ path }) => mayOverlap.includes(path));
      if (isDual && !isPermitted) problems.error(other.path, text);
      else problems.warning(other.path, text);
    }
}

function overlap(one: Cidr, other: Cidr): boolean {
  return contains(one, other.address) || contains(other, one.address);
}

function bits(cidr: Cidr): number {
  return cidr.address.length * 8;
}
