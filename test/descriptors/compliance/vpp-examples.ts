/** Values of VPP of every kind, and what they become. */
import { aclExamples } from './acl-examples.ts';
import { cnatExamples } from './cnat-examples.ts';
import { flowProbeExamples } from './flow-probe-examples.ts';
import { interfaceExamples } from './interface-examples.ts';
import { layer2Examples } from './layer2-examples.ts';
import { layer3Examples } from './layer3-examples.ts';
import { nat44Examples } from './nat44-examples.ts';
import { puntExamples } from './punt-examples.ts';
import type { Example } from './suite.ts';
import { wireguardExamples } from './wireguard-examples.ts';

/** @param hostLinks of the kernel, to which VPP can bind */
export function vppExamples(hostLinks: readonly [string, string]): readonly Example[] {
  return [
    ...interfaceExamples(hostLinks),
    ...layer2Examples,
    ...layer3Examples,
    ...nat44Examples,
    ...cnatExamples,
    ...flowProbeExamples,
    ...aclExamples,
    ...puntExamples,
    ...wireguardExamples,
  ];
}
