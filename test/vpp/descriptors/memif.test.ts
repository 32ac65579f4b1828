/** A memif of a simulated VPP, and its peer. */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { memifSuite } from '#test/descriptors/compliance/memif-suite.ts';

memifSuite(async () => {
  const clock = new ManualClock();
  const vpp = new SimVpp({ clock, random: seededRandom(1), log: silentLogger });
  return {
    clock,
    connect: vpp.connect(),
    links: [],
    pass: (ms) => clock.advance(ms),
    stop: async () => vpp.close(),
  };
});
