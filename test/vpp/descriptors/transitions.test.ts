/** Values of a simulated VPP from any of their configurations to any other, and many at once. */
import { vppFamilies, writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { pairSuite } from '#test/descriptors/transitions/pairs.ts';
import { refusalSuite } from '#test/descriptors/transitions/refusals.ts';
import { poolOf, sequenceSuite } from '#test/descriptors/transitions/sequences.ts';
import { type FreshComparison, TestAgent } from '#test/descriptors/transitions/test-agent.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { simulatedVpp, type VppBackend, withHostLinkNotifications } from './backends.ts';

/**
 * State that depends on earlier states: a MAC that is left to VPP stays as it was; AF_PACKET starts with
 * interrupts, but VPP's default mode, to which queues are reset, is polling; the link of an interface
 * that was never set up is up. VPP's entry for a BVI has its MAC. An identity of two tables has the tag of
 * its first value. An exporter of flows that has no value is paused, and the probe of local0 stays.
 */
const ofThePast = ['mac', 'rxModes', 'linkUp'];
const REMAINING = /^local0( device-input\/flowprobe-input-l2)?$| every 2147483647 s$/;

function stateOf({ simulated }: VppBackend): unknown {
  return JSON.parse(JSON.stringify(simulated?.snapshot() ?? null), (name, value) => {
    if (ofThePast.includes(name)) return undefined;
    if (['features', 'flowExporter', 'flowProbes'].includes(name))
      return value.filter((entry: string) => !REMAINING.test(entry));
    if (name === 'macs') return value.filter((entry: string) => !entry.endsWith(' bvi'));
    return typeof value === 'string' ? value.replace(/( to itself in .*) \(.*\)$/, '$1') : value;
  });
}

/**
 * Residue that a partially refused change may leave: an unused memif socket, and the table of an
 * interface for a family of which it has no address.
 */
const rests = ['memifSockets', 'vrf'];

const start = async () => withHostLinkNotifications(await simulatedVpp());

const past: FreshComparison = {
  stateOf: (backend) => stateOf(backend as VppBackend),
  async configuredAtOnce(desired) {
    const backend = await start();
    const agent = new TestAgent(backend);
    await agent.resync(desired);
    const made = stateOf(backend);
    await agent.close();
    await backend.stop();
    return made;
  },
  withoutResidue: (state) =>
    JSON.parse(JSON.stringify(state), (name, value) => (rests.includes(name) ? undefined : value)),
};

pairSuite(start, selectCases(vppFamilies), { past });

refusalSuite(start, vppFamilies, {
  file: 'test/vpp/descriptors/transitions.test.ts',
  runs: 100,
  past,
});

sequenceSuite(start, poolOf(writtenFamilies), {
  file: 'test/vpp/descriptors/transitions.test.ts',
  runs: 30,
  steps: 12,
  past,
});
