import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { unspecifiedOf } from '#models/ip.ts';
import {
  type SocketNodeAddress,
  socketNodeAddressModel,
} from '#models/linux/socket-node-address.ts';
import type { SocketTable } from '../socket-services/api.ts';

/** Addresses of nodes, at which sockets of this node reach node ports. All in the table are managed. */
export function socketNodeAddressDescriptor(
  table: SocketTable,
): KvDescriptor<SocketNodeAddress, undefined> {
  const put = async ({ address, is_local }: SocketNodeAddress): Promise<undefined> => {
    await table.putNodeAddress({ address, isLocal: is_local });
  };
  return defineDescriptor('linux-socket-node-address', socketNodeAddressModel, {
    validate(key, { address }) {
      const isAddress = address !== '' && address !== unspecifiedOf(address);
      checkField(key, isAddress, 'address', 'must be the address of a node');
    },
    create: (_key, value) => put(value),
    update: (_key, _before, after) => put(after),
    async delete(_key, { address }) {
      await table.deleteNodeAddress(address);
    },
    async retrieve() {
      const found = await table.nodeAddresses();
      return found.map(({ address, isLocal }) => {
        const value = socketNodeAddressModel.canonical({ address, is_local: isLocal });
        return { key: socketNodeAddressModel.key(value), value, origin: 'from-NB' as const };
      });
    },
  });
}
