/** Settings of managed interfaces that no value describes, and that are to be put right. */
import type { Leftover } from '#kvscheduler/api/descriptor.ts';
import { dhcpClientKey, unnumberedKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppClient } from '../../binapi/api.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { missingInterfaces } from '../missing-interfaces.ts';
import { tagOf } from '../tags.ts';
import { readDhcpClients } from './dhcp-dump.ts';
import { noFamilies, readLayer3, readLenders } from './layer3.ts';

interface ManagedInterface {
  readonly name: string;
  readonly swIfIndex: number;
}

/** Everything that is derived from the interface. */
function layer3Keys(iface: string): readonly string[] {
  return [
    `vpp/interface/${iface}/`,
    unnumberedKey.build({ iface }),
    dhcpClientKey.build({ iface }),
  ];
}

/** A create that a crash interrupted: every reader of the tag has to find the interface. */
export function wrongTag(
  client: VppClient,
  { name, swIfIndex }: ManagedInterface,
  tag: string,
): Leftover {
  return {
    name: `tag/${name}`,
    what: tag === '' ? 'the interface has no tag' : `the interface has the tag ${tag}`,
    of: vppInterfaceKey.build({ name }),
    precedes: [],
    async remove() {
      const [found] = await client.dump('sw_interface_dump', {
        sw_if_index: swIfIndex,
        name_filter_valid: false,
        name_filter: '',
      });
      if (found?.tag !== tag) return;
      await client.request('sw_interface_tag_add_del', {
        is_add: true,
        sw_if_index: swIfIndex,
        tag: tagOf(name),
      });
    },
  };
}

/**
 * A managed interface that borrows from an interface which was deleted past the agent. It would borrow from
 * the next interface that gets the index, and VPP would refuse to move it to its table.
 */
export function danglingBorrower(
  client: VppClient,
  borrower: ManagedInterface,
  lender: number,
): Leftover {
  const { name, swIfIndex } = borrower;
  return {
    name: `borrower/${name}`,
    what: `borrows the address of the deleted interface ${lender}`,
    of: vppInterfaceKey.build({ name }),
    precedes: [vppInterfaceModel.keyPrefix, ...layer3Keys(name)],
    async remove() {
      const current = (await readLenders(client)).get(swIfIndex);
      if (current === lender) {
        if (!(await missingInterfaces(client, new Set([lender]))).has(lender)) return;
        await client.request('sw_interface_set_unnumbered', {
          // in this message the first one is the lender
          sw_if_index: lender,
          unnumbered_sw_if_index: swIfIndex,
          is_add: false,
        });
      }
      // VPP refuses to move an interface that borrows, from another one meanwhile
      if (current === undefined || current === lender)
        await ignoreNotFound(leaveTables(client, borrower));
    },
  };
}

async function leaveTables(client: VppClient, iface: ManagedInterface): Promise<void> {
  for (const table of await orphanedTables(client, iface)) await table.remove();
}

/**
 * The tables of an interface without addresses. It leaves them after its last address is deleted; if VPP
 * refused it or the agent crashed in between, VPP would keep them forever.
 * @param isIn the families of which it is in its table already, before it gets an address
 */
export async function orphanedTables(
  client: VppClient,
  { name, swIfIndex }: ManagedInterface,
  isIn = noFamilies,
): Promise<readonly Leftover[]> {
  const sw_if_index = swIfIndex;
  const found = await Promise.all(
    [...(isIn.v4 ? [] : [false]), ...(isIn.v6 ? [] : [true])].map(
      async (is_ipv6): Promise<Leftover | undefined> => {
        const { vrf_id } = await client.request('sw_interface_get_table', { sw_if_index, is_ipv6 });
        if (vrf_id === 0) return undefined;
        return {
          name: `table/${name}/${is_ipv6 ? 'ipv6' : 'ipv4'}`,
          what: `the interface is in table ${vrf_id} without an address`,
          of: vppInterfaceKey.build({ name }),
          precedes: layer3Keys(name),
          async remove() {
            if (!(await isAddressless(client, swIfIndex))) return;
            const request = { sw_if_index, is_ipv6, vrf_id: 0 };
            await ignoreNotFound(client.request('sw_interface_set_table', request));
          },
        };
      },
    ),
  );
  return found.filter((one) => one !== undefined);
}

async function isAddressless(client: VppClient, swIfIndex: number): Promise<boolean> {
  const [leases, lenders, { addresses }] = await Promise.all([
    readDhcpClients(client),
    readLenders(client),
    readLayer3(client, swIfIndex, false),
  ]);
  return addresses.length === 0 && !leases.has(swIfIndex) && !lenders.has(swIfIndex);
}
