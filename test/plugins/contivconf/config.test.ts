import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, parseConfig } from '#infra/config/load.ts';
import { originalKeys } from '#infra/config/original-keys.ts';
import {
  contivConfigFile,
  contivConfigSchema,
  contivDefaults,
} from '#plugins/contivconf/config.ts';
import { checkContivConfig } from '#plugins/contivconf/config-check.ts';
import { configProblems } from '#plugins/contivconf/config-problems.ts';
import { contivConfig } from '../test-node.ts';

/** The file as the original's deployment ships it. */
const SHIPPED = `
useTAPInterfaces: true
tapInterfaceVersion: 2
tapv2RxRingSize: 256
tapv2TxRingSize: 256
tcpChecksumOffloadDisabled: true
STNVersion: 2
natExternalTraffic: true
mtuSize: 1450
scanIPNeighbors: true
ipNeighborScanInterval: 1
ipNeighborStaleThreshold: 4
enablePacketTrace: false
routeServiceCIDRToVPP: false
crdNodeConfigurationDisabled: true
enableGSO: true
ipamConfig:
  nodeInterconnectDHCP: false
  nodeInterconnectCIDR: 192.168.16.0/24
  podSubnetCIDR: 10.1.0.0/16
  podSubnetOneNodePrefixLen: 24
  vppHostSubnetCIDR: 172.30.0.0/16
  vppHostSubnetOneNodePrefixLen: 24
  vxlanCIDR: 192.168.30.0/24
`;

/** All subnets of pods, hosts and services. */
const IPV6 =
  'ipamConfig: {podSubnetCIDR: "fd10::/112", podSubnetOneNodePrefixLen: 120, vppHostSubnetCIDR: "fd20::/112", vppHostSubnetOneNodePrefixLen: 120, vxlanCIDR: "fd30::/112", serviceCIDR: "fd40::/112"}';

const read = (yaml: string, node = 'node-a') =>
  checkContivConfig(parseConfig(contivConfigSchema, yaml, 'contiv.conf'), node);

describe('contiv.conf', () => {
  it('has the defaults of the original', () => {
    assert.equal(contivDefaults.mtuSize, 0);
    assert.equal(contivDefaults.useTAPInterfaces, true);
    assert.equal(contivDefaults.podVRFID, 1);
    assert.equal(contivDefaults.nodeToNodeTransport, 'vxlan');
    assert.equal(contivDefaults.natExternalTraffic, true);
    assert.equal(contivDefaults.crdNodeConfigurationDisabled, true);
    assert.equal(contivDefaults.ipamConfig.serviceCIDR, '10.96.0.0/12');
    assert.equal(contivDefaults.ipamConfig.nodeInterconnectCIDR, '');
    assert.equal(contivDefaults.ipamConfig.srv6.sfcIDLengthUsedInSidForServiceFunction, 16);
    assert.deepEqual(configProblems(contivDefaults, 'node-a'), []);
  });

  it('accepts the file of the original deployment without warnings', () => {
    const { config, warnings } = read(SHIPPED);
    assert.deepEqual(warnings, []);
    assert.equal(config.stnVersion, 2);
    assert.equal(config.mtuSize, 1450);
  });

  it('warns of unsupported keys with file and line', () => {
    const asked: [string, RegExp][] = [
      ['stnVersion: 3', /^contiv.conf:1: stnVersion: version 3 does not exist; using 1/],
      ['nodeToNodeTransport: srv6', /SRv6 is not supported yet: VXLAN is used/],
      [
        'useSRv6ForServices: true',
        /useSRv6ForServices: SRv6 for services is not supported yet: NAT44 is used/,
      ],
      ['tapInterfaceVersion: 1', /version 2 is used/],
      ['vmxnet3RxRingSize: 2048', /vmxnet3 is not supported yet/],
      [
        'useTAPInterfaces: false\ntcpChecksumOffloadDisabled: false',
        /^contiv.conf:2: tcpChecksumOffloadDisabled: checksum offload stays disabled/,
      ],
      [
        'useTAPInterfaces: false\nenableGSO: true',
        /^contiv.conf:2: enableGSO: has no effect with useTAPInterfaces: false/,
      ],
      [
        'nodeToNodeTransport: wireguard\nenableGSO: true',
        /^contiv.conf:2: enableGSO: has no effect with nodeToNodeTransport: wireguard/,
      ],
      [
        'ipamConfig:\n  srv6:\n    sfcEndLocalSIDSubnetCIDR: 1::/16',
        /^contiv.conf:3: ipamConfig.srv6.sfcEndLocalSIDSubnetCIDR: SRv6/,
      ],
      [
        'nodeConfig:\n- nodeName: node-a\n  mainVPPInterface:\n    interfaceName: vmxnet3-0/b/0/0',
        /^contiv.conf:4: nodeConfig.0.mainVPPInterface.interfaceName: vmxnet3 is not supported yet/,
      ],
    ];
    for (const [yaml, warning] of asked) {
      const { warnings } = read(yaml);
      assert.equal(warnings.length, 1, `${yaml}: ${warnings}`);
      assert.match(warnings[0]!, warning);
    }
  });

  it('does not reject errors in the sections of other nodes', () => {
    const other = 'nodeConfig:\n- nodeName: node-b\n  gateway: nonsense\n  stealInterface: eth1';
    assert.deepEqual(read(other).warnings, []);
    assert.throws(() => read(other, 'node-b'), ConfigError);
  });

  it('names the new keys of those that earlier releases had', () => {
    const text = 'ipamConfig:\n  podNetworkPrefixLen: 25\nuseL2Interconnect: true';
    const { warnings } = parseConfig(
      contivConfigFile.schema,
      text,
      'contiv.conf',
      originalKeys['contiv.conf'],
    );
    assert.deepEqual(warnings, [
      'contiv.conf:2: ipamConfig.podNetworkPrefixLen has no effect: its name is ipamConfig.podSubnetOneNodePrefixLen now',
      'contiv.conf:3: useL2Interconnect has no effect: set nodeToNodeTransport to nooverlay instead of true',
    ]);
  });

  it('rejects invalid values with file and line', () => {
    const broken: [string, RegExp][] = [
      ['mtuSize: big', /^contiv.conf:1: mtuSize/],
      ['tapInterfaceVersion: 300', /^contiv.conf:1: tapInterfaceVersion/],
      [
        'nodeToNodeTransport: ipsec',
        /^contiv.conf:1: nodeToNodeTransport: has to be vxlan, srv6, nooverlay or wireguard$/,
      ],
      ['mtuSize: 40', /^contiv.conf:1: mtuSize: 40 is too small: the minimum is 68 with IPv4$/],
      [`${IPV6}\nmtuSize: 1279`, /mtuSize: 1279 is too small: the minimum is 1280 with IPv6$/],
      [
        'tapv2RxRingSize: 1000',
        /^contiv.conf:1: tapv2RxRingSize: 1000 is not a power of 2 up to 32768$/,
      ],
      ['tapv2TxRingSize: 3', /^contiv.conf:1: tapv2TxRingSize: 3 is not a power of 2/],
      ['tapv2TxRingSize: 16', /^contiv.conf:1: tapv2TxRingSize: 16 is too small/],
      ['mtuSize: 70000', /^contiv.conf:1: mtuSize: 70000 is too large/],
      ['ipamConfig:\n  vxlanCIDR: 192.168.30.1/32', /vxlanCIDR: 192.168.30.1\/32 is too small/],
      [
        'ipamConfig:\n  nodeInterconnectCIDR: 192.168.16.0/31',
        /nodeInterconnectCIDR: 192.168.16.0\/31 is too small/,
      ],
      [
        'nodeToNodeTransport: wireguard\nwireguardPort: 4788',
        /^contiv.conf:2: wireguardPort: 4788 is not possible/,
      ],
      ['podVRFID: 0', /^contiv.conf:1: podVRFID: 0 is the mainVRFID, too: they must differ$/],
      ['ipamConfig:\n  vxlanCIDR: 192.168.30.0', /^contiv.conf:2: ipamConfig.vxlanCIDR/],
      ['ipamConfig:\n  defaultGateway: gw', /^contiv.conf:2: ipamConfig.defaultGateway/],
      [
        'ipamConfig:\n  podSubnetOneNodePrefixLen: 12',
        /podSubnetOneNodePrefixLen: 12 does not divide/,
      ],
      ['ipamConfig:\n  podSubnetOneNodePrefixLen: 30', /must be 17 to 29/],
      ['ipamConfig:\n  vppHostSubnetOneNodePrefixLen: 31', /must be 17 to 30/],
      ['ipamConfig:\n  contivCIDR: 10.0.0.0/16', /contivCIDR: 10.0.0.0\/16 is too small/],
      [
        'ipamConfig:\n  serviceCIDR: fd00::/108',
        /fd00::\/108 is not IPv4, but the pod subnet .* is/,
      ],
      [
        'nodeConfig:\n- nodeName: node-a\n  mainVPPInterface: {ip: "10.0.0.1"}',
        /^contiv.conf:3: nodeConfig.0.mainVPPInterface.ip: "10.0.0.1" is not a CIDR/,
      ],
      ['nodeConfig:\n- nodeName: node-a\n  otherVPPInterfaces: [{}]', /interfaceName is missing/],
    ];
    for (const [yaml, message] of broken)
      assert.throws(
        () => read(yaml),
        (error: Error) => error instanceof ConfigError && message.test(error.message),
        yaml,
      );
  });

  it('accepts the limits of what it rejects', () => {
    const limits = 'mtuSize: 68\ntapv2RxRingSize: 32768\ntapv2TxRingSize: 32';
    assert.deepEqual(read(limits).warnings, []);
    assert.deepEqual(read(`${IPV6}\nmtuSize: 1280`).warnings, []);
    // the rings of TAPs are not used
    assert.deepEqual(read('useTAPInterfaces: false\ntapv2RxRingSize: 3').warnings, []);
  });

  it('validates the subnets of contivCIDR, not those that it replaces', () => {
    assert.deepEqual(read('ipamConfig:\n  contivCIDR: 172.16.0.0/14').warnings.length, 0);
    const small = 'ipamConfig:\n  contivCIDR: 10.0.0.0/14\n  podSubnetOneNodePrefixLen: 8';
    assert.deepEqual(read(small).warnings, []);
  });

  it('warns of overlapping networks, duplicate sections and unknown modes', () => {
    const texts = configProblems(
      contivConfig(
        'interfaceRxMode: fast\nipamConfig: {vxlanCIDR: 10.1.7.0/24}\n' +
          'nodeConfig:\n- nodeName: node-a\n- nodeName: node-a\n',
      ),
      'node-a',
    );
    assert.deepEqual(
      texts.map(({ level, path }) => [level, path]),
      [
        ['warning', 'interfaceRxMode'],
        ['warning', 'ipamConfig.vxlanCIDR'],
        ['warning', 'nodeConfig.1'],
      ],
    );
  });
});
