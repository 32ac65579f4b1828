import { operatorObjectsSuite } from '#test/descriptors/compliance/operator-objects-suite.ts';
import { hostLinks, simulatedVppWithLinks } from './backends.ts';

operatorObjectsSuite(async () => {
  const { client, stop } = await simulatedVppWithLinks();
  return { client, hostLink: hostLinks[0], stop };
});
