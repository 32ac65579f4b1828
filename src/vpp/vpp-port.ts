import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import { fromAddress, fromMac } from './binapi/addresses.ts';
import type { VppClient } from './binapi/api.ts';
import { AddressFamily, IpNeighborFlags } from './binapi/enums.gen.ts';
import type { SwInterfaceDetails } from './binapi/messages.gen.ts';
import { VppRefusedError } from './binapi/retval-error.ts';
import { readDhcpClients } from './descriptors/interface/dhcp-dump.ts';
import { NONE } from './descriptors/limits.ts';
import { readPermittedConnections } from './permitted-connections.ts';
import { CIPHER, hasCipher } from './wireguard/cipher.ts';

/** Graph nodes by which packets enter: NICs, TAPs (since v26.06 `tap-input`) and kernel links. */
const inputNodes = ['dpdk-input', 'virtio-input', 'tap-input', 'af-packet-input'];
/** The same number as in the original. */
const TRACED_PACKETS = 100_000;

export function vppPort(client: VppClient): VppPort {
  const dump = (): Promise<readonly SwInterfaceDetails[]> =>
    client.dump('sw_interface_dump', {
      sw_if_index: NONE,
      name_filter_valid: false,
      name_filter: '',
    });
  return {
    async interfaces() {
      return (await dump()).map((each) => ({
        swIfIndex: each.sw_if_index,
        internalName: each.interface_name,
        deviceType: each.interface_dev_type,
        tag: each.tag,
        mtu: each.link_mtu,
      }));
    },
    permittedConnections: (prefix) => readPermittedConnections(client, prefix),
    hasPolicers: async () => client.has('policer_add_del'),
    hasFlowProbe: async () => client.has('flowprobe_set_params'),
    hasCnat: async () => client.has('cnat_set_snat_addresses_v2'),
    async lackForWireguard() {
      if (!client.has('wireguard_interface_create')) return 'plugin wireguard_plugin.so';
      const { reply } = await client.request('cli_inband', { cmd: 'show crypto handlers' });
      return hasCipher(reply) ? undefined : `crypto engine with ${CIPHER} (vpp-crypto-engines)`;
    },
    async segmentation() {
      const { reply } = await client.request('cli_inband', { cmd: 'show node gso-ip4' });
      // name, priority and whether it is active, in one line for each variant
      const variant = /^\s+(\S+)\s+-?\d+\s+yes\b/m.exec(reply)?.[1] ?? '';
      return { variant, isReported: client.has('feature_is_enabled') };
    },
    async neighborsOf(sw_if_index) {
      const [details, ...neighbors] = await Promise.all([
        dump(),
        ...[AddressFamily.ADDRESS_IP4, AddressFamily.ADDRESS_IP6].map((af) =>
          client.dump('ip_neighbor_dump', { sw_if_index, af }),
        ),
      ]);
      const found = details.find((each) => each.sw_if_index === sw_if_index);
      return {
        mac: found ? fromMac(found.l2_address) : '',
        neighbors: neighbors
          .flat()
          .filter(({ neighbor }) => neighbor.flags & IpNeighborFlags.IP_API_NEIGHBOR_FLAG_STATIC)
          .map(({ neighbor }) => ({
            address: fromAddress(neighbor.ip_address),
            mac: fromMac(neighbor.mac_address),
          })),
      };
    },
    async tracePackets() {
      const trace = async (node: string): Promise<string> => {
        try {
          const cmd = `trace add ${node} ${TRACED_PACKETS}`;
          return (await client.request('cli_inband', { cmd })).reply.trim();
        } catch (thrown) {
          if (!(thrown instanceof VppRefusedError)) throw thrown;
          return `this VPP has no ${node}`;
        }
      };
      return (await Promise.all(inputNodes.map(trace))).filter((text) => text !== '');
    },
    async leases() {
      const [interfaces, clients] = await Promise.all([dump(), readDhcpClients(client)]);
      return interfaces.flatMap(({ sw_if_index, interface_name }) => {
        const lease = clients.get(sw_if_index);
        if (!lease) return [];
        const [router = ''] = lease.router.split('/');
        return [{ interfaceName: interface_name, address: lease.address, router }];
      });
    },
  };
}
