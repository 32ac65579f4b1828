/** Very many values of VPP of all kinds that need each other, as a large node has them. */
import { aclModel } from '#models/vpp/acl.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { keyedValue, loop } from './compliance/example-values.ts';

/** `02:fe:00:…` of a number up to 2^16. */
function mac(number: number): string {
  const hex = number.toString(16).padStart(4, '0');
  return `02:fe:00:00:${hex.slice(0, 2)}:${hex.slice(2)}`;
}

const GROUP = 50;

/**
 * As many values as asked for: groups of an interface with an address in a table of a few, a
 * neighbor on it, an ACL, a service, NAT, an entry of a bridge domain, and routes over it.
 */
export function manyValues(count: number): ReadonlyMap<string, object> {
  const values = new Map<string, object>();
  const add: (value: ReturnType<typeof keyedValue>) => void = ({ key, value }) => {
    if (values.size < count) values.set(key, value);
  };
  for (let id = 1; id <= 4; id++) add(keyedValue(vrfTableModel, { id, label: `table-${id}` }));
  add(keyedValue(nat44GlobalModel, { forwarding: true }));
  const members = Array.from({ length: Math.ceil(count / GROUP) }, (_, i) => `member-${i}`);
  add(keyedValue(bridgeDomainModel, { name: 'bd', interfaces: members.map((name) => ({ name })) }));
  for (let i = 0; values.size < count; i++) {
    const [name, net] = [`if-${i}`, `10.${i >> 8}.${i & 255}`];
    const vrf = i % 5;
    add(
      loop(name, {
        enabled: true,
        vrf,
        ip_addresses: [`${net}.1/24`],
        phys_address: mac(i),
        mtu: 1450,
      }),
    );
    add(loop(`member-${i}`, { enabled: true }));
    add(
      keyedValue(fibEntryModel, {
        bridge_domain: 'bd',
        phys_address: mac(30_000 + i),
        outgoing_interface: `member-${i}`,
        static_config: true,
      }),
    );
    const next_hop_addr = `${net}.2`;
    add(
      keyedValue(vppArpModel, {
        interface: name,
        ip_address: next_hop_addr,
        phys_address: mac(i),
        static: true,
      }),
    );
    add(
      keyedValue(aclModel, {
        name: `acl-${i}`,
        rules: [{ action: 'PERMIT', ip_rule: { ip: { source_network: `${net}.0/24` } } }],
        interfaces: { ingress: [name] },
      }),
    );
    add(keyedValue(nat44InterfaceModel, { name, nat_inside: true }));
    const local = (last: number) => ({
      vrf_id: vrf,
      local_ip: `${net}.${last}`,
      local_port: 80,
      probability: 1,
    });
    add(
      keyedValue(dnat44Model, {
        label: `default/service-${i}`,
        st_mappings: [
          {
            external_ip: `172.16.${i >> 8}.${i & 255}`,
            external_port: 80,
            protocol: 'TCP',
            local_ips: i % 2 === 0 ? [local(3)] : [local(3), local(4)],
          },
        ],
      }),
    );
    for (let route = 0; route < GROUP - 7; route++) {
      const dst_network = `100.${64 + (i >> 8)}.${i & 255}.${route * 4}/30`;
      add(
        keyedValue(vppRouteModel, {
          vrf_id: vrf,
          dst_network,
          next_hop_addr,
          outgoing_interface: name,
        }),
      );
    }
  }
  return values;
}
