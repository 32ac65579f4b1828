import { mtuSuite } from '#test/descriptors/compliance/mtu-suite.ts';
import { hostLinks, simulatedVppWithLinks } from './backends.ts';

mtuSuite(async () => {
  const { client, stop } = await simulatedVppWithLinks();
  return { client, hostLink: hostLinks[0], stop };
});
