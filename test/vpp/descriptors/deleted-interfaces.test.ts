/** Interfaces that are deleted past the agent, on the simulated VPP. */
import { deletedInterfaceSuite } from '#test/descriptors/compliance/deleted-interface-suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { hostLinks, simulatedVpp } from './backends.ts';

deletedInterfaceSuite(async () => {
  const backend = await simulatedVpp();
  const routes = () => (backend.simulated!.snapshot() as { routes: readonly string[] }).routes;
  return {
    backend,
    deadPaths: async () => routes().filter((text) => text.includes('unresolved')),
  };
}, vppExamples(hostLinks));
