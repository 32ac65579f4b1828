/** `/dump/vpp/v2/interfaces` and its parts by type. */
import type { Route } from '#infra/http/route.ts';
import type { InterfaceType } from '#models/vpp/interface.gen.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { fromMac } from '#vpp/binapi/addresses.ts';
import { IfStatusFlags } from '#vpp/binapi/enums.gen.ts';
import type { InterfaceDetails } from '#vpp/descriptors/interface/details.ts';
import { type DocumentDeps, documentRoute, mapOf } from '../document.ts';
import { jsonpbOf } from '../message-json.ts';
import type { ActualValue } from '../southbound.ts';

type ActualInterface = ActualValue<VppInterface, VppInterfaceMetadata, InterfaceDetails>;

export function vppInterfaceDocuments({ southbound, clock }: DocumentDeps): Route[] {
  const read = async (type?: InterfaceType) => {
    const all = await southbound.read<VppInterface, VppInterfaceMetadata, InterfaceDetails>(
      'vpp-interface',
    );
    const asked = type === undefined ? all : all.filter(({ value }) => value.type === type);
    return mapOf(clock, asked, (each) => [each.metadata.swIfIndex, documentOf(each)]);
  };
  return [
    documentRoute('/dump/vpp/v2/interfaces', 'interfaces of VPP by index', clock, () => read()),
    documentRoute('/dump/vpp/v2/interfaces/afpacket', 'AF_PACKET interfaces by index', clock, () =>
      read('AF_PACKET'),
    ),
    documentRoute('/dump/vpp/v2/interfaces/ethernet', 'NICs by index', clock, () => read('DPDK')),
    documentRoute('/dump/vpp/v2/interfaces/loopback', 'loopbacks by index', clock, () =>
      read('SOFTWARE_LOOPBACK'),
    ),
    documentRoute('/dump/vpp/v2/interfaces/memif', 'memifs by index', clock, () => read('MEMIF')),
    documentRoute('/dump/vpp/v2/interfaces/tap', 'TAPs by index', clock, () => read('TAP')),
    documentRoute('/dump/vpp/v2/interfaces/vxlan', 'VXLAN tunnels by index', clock, () =>
      read('VXLAN_TUNNEL'),
    ),
  ];
}

function documentOf({ value, details }: ActualInterface) {
  const { report } = details;
  const phys_address = fromMac(report.l2_address);
  return {
    interface: jsonpbOf(vppInterfaceModel, { ...value, phys_address }),
    interface_meta: metaOf(value, details),
  };
}

function metaOf(value: VppInterface, { report, table4, table6, lease }: InterfaceDetails) {
  const has = (flag: number): boolean => (report.flags & flag) !== 0;
  return {
    sw_if_index: report.sw_if_index,
    sub_sw_if_index: report.sup_sw_if_index,
    // Go writes a byte array in base64
    l2_address: Buffer.from(report.l2_address).toString('base64'),
    internal_name: report.interface_name,
    is_admin_state_up: has(IfStatusFlags.IF_STATUS_API_FLAG_ADMIN_UP),
    is_link_state_up: has(IfStatusFlags.IF_STATUS_API_FLAG_LINK_UP),
    link_duplex: report.link_duplex,
    link_mtu: report.link_mtu,
    mtu: report.mtu,
    link_speed: report.link_speed,
    sub_id: report.sub_id,
    tag: report.tag,
    dhcp: value.set_dhcp_client ? dhcpOf(report.sw_if_index, lease) : null,
    vrf_ipv4: table4 ?? 0,
    vrf_ipv6: table6 ?? 0,
    pci: 0,
  };
}

/** Options of the client and the state of its lease are not read: they are zero. */
function dhcpOf(SwIfIndex: number, lease: InterfaceDetails['lease']) {
  const [address = '', width = '0'] = lease?.address.split('/') ?? [];
  return {
    dhcp_client: {
      SwIfIndex,
      Hostname: '',
      ID: '',
      WantDhcpEvent: false,
      SetBroadcastFlag: false,
      PID: 0,
    },
    dhcp_lease: {
      SwIfIndex,
      State: 0,
      Hostname: lease?.hostName ?? '',
      IsIPv6: false,
      MaskWidth: Number(width),
      HostAddress: address,
      RouterAddress: lease?.router.split('/')[0] ?? '',
      HostMac: lease?.mac ?? '',
    },
  };
}
