/**
 * `contiv.conf`. All keys of the original, so that its files are read without complaint; compared
 * without case by the loader. What the agent cannot do yet stands in `unsupported.ts`.
 */
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';

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
    'MTU of every link to pods and host; 0: what fits through the network between the nodes.',
  ),
  useTAPInterfaces: flag(
    true,
    'TAP interfaces; false means VETH pairs and AF_PACKET, for up to 15 pods (docs/networking.md).',
  ),
  tapInterfaceVersion: number(8, 2, 'Only 2 exists in the supported releases of VPP.'),
  tapv2RxRingSize: number(16, 0, 'Slots; 0 leaves it to VPP.'),
  tapv2TxRingSize: number(16, 0, 'Slots; 0 leaves it to VPP.'),
  vmxnet3RxRingSize: number(16, 0, 'Slots; 0 leaves it to VPP.'),
  vmxnet3TxRingSize: number(16, 0, 'Slots; 0 leaves it to VPP.'),
  interfaceRxMode: text('', 'default, polling, interrupt or adaptive.'),
  tcpChecksumOffloadDisabled: flag(true, 'Switches checksum offload off; for VETH only.'),
  enableGSO: flag(false, 'Generic segmentation offload on TAP interfaces.'),
};

const routingKeys = {
  mainVRFID: number(32, 0, 'VRF of the NICs and of the link to the host.'),
  podVRFID: number(32, 1, 'VRF of the pods.'),
  nodeToNodeTransport: Type.Union(
    [Type.Literal('vxlan'), Type.Literal('srv6'), Type.Literal('nooverlay')],
    { default: 'vxlan', description: 'How packets travel between nodes.' },
  ),
  useSRv6ForServices: flag(false, 'Services by segment routing.'),
  useSRv6ForServiceFunctionChaining: flag(false, 'Service chains by segment routing.'),
  useDX6ForSrv6NodetoNodeTransport: flag(false, 'End.DX6 instead of End.DT6 between nodes.'),
  routeServiceCIDRToVPP: flag(false, 'The host sends what goes to services to VPP.'),
};

const neighborKeys = {
  scanIPNeighbors: flag(true, 'Ages out IP neighbors.'),
  ipNeighborScanInterval: number(8, 1, 'Minutes.'),
  ipNeighborStaleThreshold: number(8, 4, 'Minutes.'),
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
    sfcIDLengthUsedInSidForServiceFunction: number(8, 16, 'Bits of a chain in a segment ID.'),
  },
  { default: {} },
);

const ipamConfig = Type.Object(
  {
    useExternalIPAM: flag(false, 'Addresses of pods come from the IPAM plugin of the CNI.'),
    contivCIDR: text('', 'One super-net to be cut up; goes before the single subnets.'),
    serviceCIDR: text('10.96.0.0/12', 'ClusterIPs, as the API server was told.'),
    nodeInterconnectDHCP: flag(false, 'Addresses of the nodes come from DHCP.'),
    podSubnetCIDR: text('10.1.0.0/16', 'Pods of all nodes.'),
    podSubnetOneNodePrefixLen: number(8, 24, 'Prefix length of the part of one node.'),
    vppHostSubnetCIDR: text('172.30.0.0/16', 'Links between VPP and the hosts.'),
    vppHostSubnetOneNodePrefixLen: number(8, 24, 'Prefix length of the part of one node.'),
    nodeInterconnectCIDR: text('', 'Addresses of the nodes among each other.'),
    vxlanCIDR: text('192.168.30.0/24', 'Addresses inside the VXLAN mesh.'),
    defaultGateway: text('', 'Way out of the cluster.'),
    srv6,
  },
  { default: {} },
);

const interfaceEntry = {
  interfaceName: text(
    '',
    "VPP's name of the NIC, for example GigabitEthernet0/8/0; host-eth1 binds VPP to the link eth1 of the host.",
  ),
  ip: text('', 'CIDR; several are separated by commas. Goes before DHCP.'),
  useDHCP: flag(false, 'Its address comes from DHCP.'),
};

const nodeSection = Type.Object({
  nodeName: text('', 'As Kubernetes names the node.'),
  mainVPPInterface: Type.Object(interfaceEntry, { default: {} }),
  otherVPPInterfaces: Type.Array(Type.Object(interfaceEntry), {
    default: [],
    description: 'NICs besides the main one.',
  }),
  stealInterface: text('', 'NIC of the host that VPP takes over.'),
  gateway: text('', 'Way out of the cluster; goes before ipamConfig.defaultGateway.'),
  natExternalTraffic: flag(false, 'Source NAT for this node even where it is off for all.'),
});

export const contivConfigSchema = Type.Object({
  ...interfaceKeys,
  ...routingKeys,
  ...neighborKeys,
  stealFirstNIC: flag(false, 'VPP takes over the first NIC of the host.'),
  stealInterface: text('', 'VPP takes over this NIC of the host.'),
  stnSocketFile: text('/var/run/contiv/stn.sock', 'Socket of the daemon that hands NICs over.'),
  stnVersion: number(8, 0, '2 means punt by IP redirect.'),
  natExternalTraffic: flag(true, 'Source NAT for what pods send out of the cluster.'),
  enablePacketTrace: flag(false, 'Packet trace in VPP, for debugging only.'),
  crdNodeConfigurationDisabled: flag(true, 'Do not look at NodeConfig resources.'),
  ipamConfig,
  nodeConfig: Type.Array(nodeSection, {
    default: [],
    description: 'What differs on single nodes.',
  }),
});

export type ContivConfig = Static<typeof contivConfigSchema>;
export type NodeSection = ContivConfig['nodeConfig'][number];

/** What an empty file means. */
export const contivDefaults = Value.Default(contivConfigSchema, {}) as ContivConfig;

/** For the loader: flag `--contiv-config`, variable `CONTIV_CONFIG`, file `contiv.conf`. */
export const contivConfigFile = { name: 'contiv', schema: contivConfigSchema } as const;
