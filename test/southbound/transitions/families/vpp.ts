/** All families of values of VPP: a new one is added here. */
import { hostLinks } from '../../vpp/backends.ts';
import type { Family } from '../family.ts';
import { interfaceFamilies } from './interfaces.ts';
import { layer2Families } from './layer2.ts';
import { layer3Families } from './layer3.ts';

export const vppFamilies: readonly Family[] = [
  ...interfaceFamilies(hostLinks),
  ...layer2Families,
  ...layer3Families,
];
