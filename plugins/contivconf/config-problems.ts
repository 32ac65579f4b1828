/**
 * Validation of the configuration beyond the types of its keys. An error stops the start: running
 * with an unintended default is worse.
 */
import { VXLAN_PORT } from '#models/vpp/interface.ts';
import { slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { ContivConfig, NodeSection } from './config.ts';
import { addressList, nodeSection } from './node-section.ts';
import { type ConfigProblem, ProblemList } from './problem-list.ts';
import { podFamilies, subnetProblems } from './subnet-problems.ts';
import { unsupported } from './unsupported-keys.ts';

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
  if (config.nodeToNodeTransport === 'wireguard' && config.mainVRFID !== 0)
    problems.error('mainVRFID', `${config.mainVRFID} is not possible with wireguard: it must be 0`);
  if (config.nodeToNodeTransport === 'wireguard') checkWireguardPort(problems, config);
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
  if (config.nodeToNodeTransport === 'wireguard' && config.enableGSO)
    problems.warning('enableGSO', 'has no effect with nodeToNodeTransport: wireguard');
  return problems.found;
}

/** VPP has one receiver for each port of UDP; while encryption is switched on or off it has VXLAN, too. */
function checkWireguardPort(problems: ProblemList, { wireguardPort }: ContivConfig): void {
  if (slots.some((slot) => wireguardPort + slot === VXLAN_PORT))
    problems.error(
      'wireguardPort',
      `${wireguardPort} is not possible: it and the next one must not be ${VXLAN_PORT}, the port of VXLAN`,
    );
}

function checkMtu(problems: ProblemList, config: ContivConfig): void {
  const { mtuSize } = config;
  for (const family of podFamilies(config)) {
    const min = minMtu[family];
    if (mtuSize !== 0 && mtuSize < min)
      problems.error('mtuSize', `${mtuSize} is too small: the minimum is ${min} with IPv${family}`);
  }
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
  problems.gateways(`${at}.gateway`, section.gateway);
  for (const [number, { nodeName: name }] of config.nodeConfig.entries())
    if (number !== index && name === nodeName)
      problems.warning(`nodeConfig.${number}`, `a second section for node ${nodeName} is ignored`);
  return problems.found;
}
