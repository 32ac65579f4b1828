/** All families of values of VPP: every example is one, and those that are written out. */

import { hostLinks } from '#test/vpp/descriptors/backends.ts';
import { vppExamples } from '../../compliance/vpp-examples.ts';
import { type Family, familiesOf } from '../family.ts';
import { aclFamilies } from './acl.ts';
import { cnatFamilies } from './cnat.ts';
import { flowProbeFamilies } from './flow-probes.ts';
import { interfaceFamilies } from './interfaces.ts';
import { layer2Families } from './layer2.ts';
import { layer3Families } from './layer3.ts';
import { linkFamilies } from './links.ts';
import { nat44Families } from './nat44.ts';
import { puntFamilies } from './punt.ts';
import { wireguardFamilies } from './wireguard.ts';

/** Designed to coexist. */
export const writtenFamilies: readonly Family[] = [
  ...interfaceFamilies(hostLinks),
  ...layer2Families,
  ...layer3Families,
  ...linkFamilies,
  ...nat44Families,
  ...cnatFamilies,
  ...flowProbeFamilies,
  ...aclFamilies,
  ...puntFamilies,
  ...wireguardFamilies,
];

export const vppFamilies: readonly Family[] = [
  ...writtenFamilies,
  ...familiesOf(vppExamples(hostLinks)),
];
