import { bundledDefinitions } from '../bundled-definitions.ts';
import { type Definitions, mergeDefinitions, readDefinitions } from '../definitions.ts';

/**
 * The definitions of VPP 26.06, which the project targets. They lack those of the policer, which became a
 * plugin in this release without a change: its messages have the same CRCs as in 25.10. What no folder has, as flowprobe, stays
 * as it is bundled: the script reads it once from the folder that a VPP has installed.
 * @param folder with a folder of definitions for each release
 */
export async function targetDefinitions(folder: string): Promise<Definitions> {
  const releases = ['v25.10', 'v26.06'].map((release) => readDefinitions(`${folder}/${release}`));
  return mergeDefinitions([bundledDefinitions, ...(await Promise.all(releases))]);
}
