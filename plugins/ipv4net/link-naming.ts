/** Reads the names of pod links that `names.ts` builds: those of the original are the same. */
import type { LinkNaming, LinkOwner } from '#plugins/podmanager/api.ts';
import { linkPrefixes, logical, MAIN_INTERFACE, mayBeCut, podLinkNames } from './names.ts';

const vppPrefixes = [linkPrefixes.vppTap, linkPrefixes.afPacket + linkPrefixes.hostVeth];
const podPrefixes = [linkPrefixes.linuxTap, linkPrefixes.podVeth];
const hostPrefixes = [linkPrefixes.hostVeth];
const linuxPrefixes = [...podPrefixes, ...hostPrefixes, linkPrefixes.vppTap];

/** A logical name without its prefix. */
interface Suffix {
  readonly text: string;
  readonly isCut: boolean;
}

export const podLinkNaming: LinkNaming = {
  ofVppInterface(logicalName) {
    const suffix = suffixOf(logicalName, vppPrefixes);
    return suffix && ownerOf(suffix, undefined);
  },
  ofLinuxLink({ name, logicalName, otherEnd }) {
    const isHostEnd = suffixOf(logicalName, hostPrefixes) !== undefined;
    if (!isHostEnd && !suffixOf(logicalName, podPrefixes)) return undefined;
    // the shorter prefix leaves more of the ID
    const suffixes = [logicalName, otherEnd]
      .flatMap((one) => suffixOf(one, linuxPrefixes) ?? [])
      .sort((a, b) => b.text.length - a.text.length);
    const owner = ownerOf(suffixes[0]!, isHostEnd ? undefined : name);
    const hostEnd = isHostEnd ? logicalName : otherEnd;
    const vppInterface = otherEnd.startsWith(linkPrefixes.vppTap)
      ? otherEnd
      : logical(linkPrefixes.afPacket + hostEnd);
    return owner && { owner, vppInterface, isHostEnd };
  },
  vppInterfacesOf: (link) => [true, false].map((useTap) => podLinkNames(link, useTap).vpp),
};

function suffixOf(logicalName: string, prefixes: readonly string[]): Suffix | undefined {
  const prefix = prefixes.find((one) => logicalName.startsWith(one));
  if (prefix === undefined || logicalName.length === prefix.length) return undefined;
  return { text: logicalName.slice(prefix.length), isCut: mayBeCut(logicalName) };
}

/**
 * @param linkName in the pod; without it, an ID without hyphens is assumed, as all runtimes assign them
 * @returns undefined if the link was renamed
 */
function ownerOf({ text, isCut }: Suffix, linkName: string | undefined): LinkOwner | undefined {
  if (linkName === MAIN_INTERFACE)
    return { containerId: text, interfaceName: MAIN_INTERFACE, isIdCut: isCut };
  const hyphen = linkName === undefined ? text.lastIndexOf('-') : linkName.length;
  const interfaceName = text.slice(0, Math.max(hyphen, 0));
  if (linkName !== undefined && !text.startsWith(`${linkName}-`)) return undefined;
  return {
    containerId: text.slice(hyphen + 1),
    interfaceName: interfaceName === '' ? MAIN_INTERFACE : interfaceName,
    isIdCut: isCut,
  };
}
