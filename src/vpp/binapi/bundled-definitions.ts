import bundled from './definitions.gen.json' with { type: 'json' };
import type { Definitions } from './definitions.ts';

/** The definitions of the used messages, taken from the VPP release that the project targets. */
export const bundledDefinitions = bundled as unknown as Definitions;
