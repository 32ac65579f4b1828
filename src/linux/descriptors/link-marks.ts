/**
 * Marks of managed links. A link that the agent created or moved has an alias: the agent's prefix and the
 * names of its value. The end of a veth pair whose value does not exist yet is a pending end: it stays in
 * the agent's namespace under a name computed from its logical name.
 */
import { fnv1a32 } from '#models/fnv.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxLink } from '../api.ts';

/** Maximum length of an alias in bytes. */
export const ALIAS_LENGTH = 255;

export type LinkMark =
  | { readonly type: 'VETH'; readonly name: string; readonly peer: string }
  | {
      readonly type: 'TAP_TO_VPP';
      readonly name: string;
      readonly vppTap: string;
      /** The name that VPP gave to the link. */
      readonly vppHostIfName: string;
      /** Whether VPP made it in the namespace of its value; otherwise, in that of the agent. */
      readonly isInPlace: boolean;
    };

/** Fourth part of the mark of a TAP that VPP made in place. Earlier agents do not read it, and move the link. */
const IN_PLACE = '.';

const ROOT = '/vnf-agent/';

/** Whether an agent of any label manages the link. */
export function isMarked(alias: string | undefined): boolean {
  return alias?.startsWith(ROOT) ?? false;
}

export class LinkMarks {
  readonly #prefix: string;

  /** @param label of this agent: distinguishes the links of two agents on one machine */
  constructor(label: string) {
    this.#prefix = `${ROOT}${label}/`;
  }

  veth(name: string, peer: string): string {
    return `${this.#prefix}${name}/${peer}`;
  }

  tap(name: string, vppTap: string, vppHostIfName: string, isInPlace: boolean): string {
    const made = isInPlace ? [vppHostIfName, IN_PLACE] : [vppHostIfName];
    return `${this.#prefix}${[name, vppTap, ...made].join('/')}`;
  }

  /** The longest possible mark of the value. */
  longest(value: LinuxInterface): string {
    const { name, veth, tap } = value;
    return veth === undefined
      ? this.tap(name, tap?.vpp_tap_if_name ?? '', 'x'.repeat(15), true)
      : this.veth(name, veth.peer_if_name);
  }

  /** Undefined for an unmanaged link. */
  read(link: LinuxLink): LinkMark | undefined {
    const alias = link.alias ?? '';
    return alias.startsWith(this.#prefix) ? parseMark(alias.slice(this.#prefix.length)) : undefined;
  }
}

/** The mark of an agent of any label; undefined for an unmanaged link. */
export function markOfAnyLabel(alias: string | undefined): LinkMark | undefined {
  if (alias === undefined || !isMarked(alias)) return undefined;
  const afterLabel = alias.indexOf('/', ROOT.length);
  return afterLabel < 0 ? undefined : parseMark(alias.slice(afterLabel + 1));
}

function parseMark(text: string): LinkMark | undefined {
  const [name = '', second = '', third, fourth] = text.split('/');
  if (name === '' || second === '') return undefined;
  if (third === undefined) return { type: 'VETH', name, peer: second };
  const isInPlace = fourth === IN_PLACE;
  return { type: 'TAP_TO_VPP', name, vppTap: second, vppHostIfName: third, isInPlace };
}

/** Name in the agent's namespace of a pending end. */
export function pendingEndName(logicalName: string): string {
  return `veth-${fnv1a32(logicalName).toString(16).padStart(8, '0')}`;
}
