/** Leases and links of a simulated VPP. */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { type DhcpBackend, dhcpSuite } from '#test/descriptors/compliance/dhcp-suite.ts';

dhcpSuite(async (): Promise<DhcpBackend> => {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const linux = new SimLinux(random);
  const vpp = new SimVpp({ host: linux, clock, random, log: silentLogger });
  const [link, other] = ['host1', 'host2'];
  await linux.createVeth(
    { namespace: undefined, name: link },
    { namespace: undefined, name: other },
  );
  return {
    clock,
    connect: vpp.connect(),
    links: [link],
    offer: (offer) => vpp.dhcpServer.offer('main', offer),
    pass: (ms) => clock.advance(ms),
    stop: async () => vpp.close(),
  };
});
