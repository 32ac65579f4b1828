/**
 * `contiv.conf`, with all keys of the original, so that its files are accepted; the loader ignores
 * the case of keys. `unsupported-keys.ts` lists the keys of features that are not supported yet.
 */
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import type { IpFamily } from '#models/ip.ts';
import { defaultPrefixLength } from './node-prefix-length.ts';

const flag = (byDefault: boolean, description: string) =>
  Type.Boolean({ default: byDefault, description });
const text = (byDefault: string, description: string) =>
  Type.String({ default: byDefault, description });
const number = (bits: 8 | 16 | 32, byDefault: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 2 ** bits - 1, default: byDefault, description });

const interfaceKeys = {
  mtuSize: number(
    32,
    0,
    'MTU of the links to pods and host; 0: derived from the MTU of the network between the nodes.',
  ),
  useTAPInterfaces: flag(
    true,
    'Use TAP interfaces; false: VETH pairs and AF_PACKET, for up to 15 pods (docs/networking.md).',
  ),
  tapInterfaceVersion: number(
    8,
    2,
    'Version of TAP interfaces; the supported releases of VPP have only version 2.',
  ),
  tapv2RxRingSize: number(16, 0, 'Slots in the RX ring of a TAP, a power of 2; 0: default of VPP.'),
  tapv2TxRingSize: number(16, 0, 'Slots in the TX ring of a TAP, a power of 2; 0: default of VPP.'),
  vmxnet3RxRingSize: number(16, 0, 'Slots in the RX ring of a vmxnet3 NIC; 0: default of VPP.'),
  vmxnet3TxRingSize: number(16, 0, 'Slots in the TX ring of a vmxnet3 NIC; 0: default of VPP.'),
  interfaceRxMode: text('', 'RX mode of interfaces: default, polling, interrupt or adaptive.'),
  tcpChecksumOffloadDisabled: flag(
    true,
    'Without effect: checksum offload is always disabled on VETH pairs (docs/networking.md).',
  ),
  enableGSO: flag(
    false,
    'Enable generic segmentation offload on TAP interfaces; VPP segments on its other interfaces (docs/networking.md).',
  ),
};

const routingKeys = {
  mainVRFID: number(32, 0, 'ID of the VRF of the NICs and of the link to the host.'),
  podVRFID: number(32, 1, 'ID of the VRF of the pods; it must differ from mainVRFID.'),
  nodeToNodeTransport: Type.Union(
    [
      Type.Literal('vxlan'),
      Type.Literal('srv6'),
      Type.Literal('nooverlay'),
      Type.Literal('wireguard'),
    ],
    {
      default: 'vxlan',
      description:
        'Transport of packets between nodes. With nooverlay, the VPPs need addresses of the family of the pods. wireguard encrypts (docs/encryption.md).',
    },
  ),
  wireguardPort: Type.Integer({
    minimum: 1,
    maximum: 65_534,
    default: 51_820,
    description: 'First of the two UDP ports of WireGuard on this node.',
  }),
  wireguardKeyLifetime: number(
    32,
    1440,
    'Age in minutes at which a key of WireGuard is replaced; 0: only by command.',
  ),
  wireguardClearText: flag(
    false,
    'With wireguard: reach nodes that have published no key by VXLAN, in clear text; false: not at all.',
  ),
  useSRv6ForServices: flag(false, 'Use segment routing (SRv6) for services.'),
  useSRv6ForServiceFunctionChaining: flag(false, 'Use segment routing (SRv6) for service chains.'),
  useDX6ForSrv6NodetoNodeTransport: flag(false, 'Use End.DX6 instead of End.DT6 between nodes.'),
  routeServiceCIDRToVPP: flag(false, 'Route packets of the host to services through VPP.'),
};

const neighborKeys = {
  scanIPNeighbors: flag(true, 'Scan IP neighbors and remove stale ones.'),
  ipNeighborScanInterval: number(8, 1, 'Interval of the scan in minutes.'),
  ipNeighborStaleThreshold: number(8, 4, 'Age in minutes at which a neighbor is stale.'),
};

const sid = (byDefault: string) => text(byDefault, 'Prefix of segment IDs.');
const srv6 = Type.Object(
  {
    servicePolicyBSIDSubnetCIDR: sid('8fff::/16'),
    servicePodLocalSIDSubnetCIDR: sid('9300::/16'),
    serviceHostLocalSIDSubnetCIDR: sid('9300::/16'),
    serviceNodeLocalSIDSubnetCIDR: sid('9000::/16'),
    nodeToNodePodLocalSIDSubnetCIDR: sid('9501::/16'),
    nodeToNodeHostLocalSIDSubnetCIDR: sid('9500::/16'),
    nodeToNodePodPolicySIDSubnetCIDR: sid('8501::/16'),
    nodeToNodeHostPolicySIDSubnetCIDR: sid('8500::/16'),
    sfcPolicyBSIDSubnetCIDR: sid('8eee::/16'),
    sfcServiceFunctionSIDSubnetCIDR: sid('9600::/16'),
    sfcEndLocalSIDSubnetCIDR: sid('9310::/16'),
    sfcIDLengthUsedInSidForServiceFunction: number(
      8,
      16,
      'Number of bits for the ID of a service chain in a segment ID.',
    ),
  },
  { default: {} },
);

const ofFamily = (subnet: string, family: IpFamily) =>
  number(
    8,
    0,
    `Prefix length of the ${subnet} of one node in IPv${family}; 0: in the first family the key without a family, in the second one ${defaultPrefixLength[family]}.`,
  );

const ipamConfig = Type.Object(
  {
    useExternalIPAM: flag(
      false,
      'Use the pod addresses of the IPAM plugin in the CNI configuration.',
    ),
    contivCIDR: text(
      '',
      'One network of each family that is divided into all subnets; takes precedence over the individual subnets.',
    ),
    serviceCIDR: text(
      '10.96.0.0/12',
      'Service subnet (ClusterIPs) of each family, as configured in the API server.',
    ),
    nodeInterconnectDHCP: flag(false, 'Assign node addresses by DHCP.'),
    podSubnetCIDR: text(
      '10.1.0.0/16',
      'Pod subnet of all nodes: one network, or one of each family, the primary one first (docs/networking.md).',
    ),
    podSubnetOneNodePrefixLen: number(
      8,
      0,
      'Prefix length of the pod subnet of one node, in the first family; 0: 24 for IPv4, 64 for IPv6.',
    ),
    podSubnetOneNodePrefixLenIPv4: ofFamily('pod subnet', 4),
    podSubnetOneNodePrefixLenIPv6: ofFamily('pod subnet', 6),
    vppHostSubnetCIDR: text(
      '172.30.0.0/16',
      'Subnet of the links between VPP and the host, of all nodes, for each family of the pods.',
    ),
    vppHostSubnetOneNodePrefixLen: number(
      8,
      0,
      'Prefix length of the VPP-host subnet of one node, in the first family; 0: 24 for IPv4, 64 for IPv6.',
    ),
    vppHostSubnetOneNodePrefixLenIPv4: ofFamily('VPP-host subnet', 4),
    vppHostSubnetOneNodePrefixLenIPv6: ofFamily('VPP-host subnet', 6),
    nodeInterconnectCIDR: text(
      '',
      'Subnet of the node addresses in the network between the nodes; with one of each family, nodes have two.',
    ),
    vxlanCIDR: text(
      '192.168.30.0/24',
      'Subnet of the nodes in the VXLAN overlay, for each family of the pods.',
    ),
    defaultGateway: text(
      '',
      'Gateway to networks outside of the cluster: one address, or one of each family.',
    ),
    srv6,
  },
  { default: {} },
);

const interfaceEntry = {
  interfaceName: text(
    '',
    'Name of the NIC in VPP, for example GigabitEthernet0/8/0; host-eth1 binds VPP to the link eth1 of the host.',
  ),
  ip: text(
    '',
    'Addresses as CIDR, separated by commas; take precedence over DHCP (with both families: docs/networking.md).',
  ),
  useDHCP: flag(false, 'Assign its address by DHCP.'),
};

const nodeSection = Type.Object({
  nodeName: text('', 'Name of the node in Kubernetes.'),
  mainVPPInterface: Type.Object(interfaceEntry, { default: {} }),
  otherVPPInterfaces: Type.Array(Type.Object(interfaceEntry), {
    default: [],
    description: 'Further NICs besides the main one.',
  }),
  stealInterface: text('', 'NIC of the host that VPP takes over.'),
  gateway: text(
    '',
    'Gateway of the node, or one of each family; takes precedence over ipamConfig.defaultGateway.',
  ),
  natExternalTraffic: flag(
    false,
    'Enable source NAT on this node even if it is disabled globally.',
  ),
});

const natOfIpv6 = Type.Union(
  [Type.Literal('unique-local'), Type.Literal('always'), Type.Literal('never')],
  {
    default: 'unique-local',
    description:
      'Where natExternalTraffic is on, in IPv6: for pods with unique local addresses (fc00::/7), always or never (docs/services.md).',
  },
);

export type NatOfIpv6 = Static<typeof natOfIpv6>;

export const contivConfigSchema = Type.Object({
  ...interfaceKeys,
  ...routingKeys,
  ...neighborKeys,
  stealFirstNIC: flag(false, 'Let VPP take over the first NIC of the host (docs/contiv-init.md).'),
  stealInterface: text('', 'Let VPP take over this NIC of the host (docs/contiv-init.md).'),
  stnSocketFile: text('/var/run/contiv/stn.sock', 'Socket of the STN daemon, contiv-stn.'),
  stnVersion: number(
    8,
    0,
    'Version of STN: 1 punts by an STN rule, 2 by an IP redirect; 0 means 1.',
  ),
  natExternalTraffic: flag(true, 'Source NAT for packets of pods that leave the cluster.'),
  natExternalTrafficIPv6: natOfIpv6,
  enablePacketTrace: flag(false, 'Enable packet trace in VPP, for debugging only.'),
  crdNodeConfigurationDisabled: flag(
    true,
    'Ignore NodeConfig resources; false: a new node waits for its NodeConfig (docs/node-config.md).',
  ),
  ipamConfig,
  nodeConfig: Type.Array(nodeSection, {
    default: [],
    description: 'Settings of individual nodes.',
  }),
});

export type ContivConfig = Static<typeof contivConfigSchema>;
export type NodeSection = ContivConfig['nodeConfig'][number];

/** Configuration of an empty file. */
export const contivDefaults = Value.Default(contivConfigSchema, {}) as ContivConfig;

/** For the loader: flag `--contiv-config`, variable `CONTIV_CONFIG`, file `contiv.conf`. */
export const contivConfigFile = { name: 'contiv', schema: contivConfigSchema } as const;
