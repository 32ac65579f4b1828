import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';

/**
 * A fake STN daemon that has taken a NIC from the host.
 * @param address of the host on the NIC, with prefix length
 * @param gateway of the default route of the host; undefined: it has none
 */
export async function stolenUplink(
  socketFile: string,
  nic: string,
  address: string,
  gateway?: string,
): Promise<FakeStnDaemon> {
  const daemon = await FakeStnDaemon.start(socketFile);
  daemon.taken.set(nic, {
    pci_address: '0000:0b:00.0',
    kernel_driver: 'e1000e',
    ip_addresses: [address],
    routes: gateway === undefined ? [] : [{ destination_subnet: '', next_hop_ip: gateway }],
  });
  return daemon;
}
