/**
 * How links of ours are known. A link that we made or moved carries an alias: the agent's prefix and
 * what is needed to name it again. An end of a veth pair whose own value has not come yet waits in
 * the agent's namespace under a name made from its logical one.
 */
import { fnv1a32 } from '#models/fnv.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxLink } from '../api.ts';

/** Bytes that the kernel keeps of an alias. */
export const ALIAS_LENGTH = 255;

export type LinkMark =
  | { readonly type: 'VETH'; readonly name: string; readonly peer: string }
  | {
      readonly type: 'TAP_TO_VPP';
      readonly name: string;
      readonly vppTap: string;
      /** The name that VPP gave to the link. */
      readonly vppHostIfName: string;
    };

const ROOT = '/vnf-agent/';

/** Whether an agent of any label has made the link. */
export function isMarked(alias: string | undefined): boolean {
  return alias?.startsWith(ROOT) ?? false;
}

export class LinkMarks {
  readonly #prefix: string;

  /** @param label of this agent: two agents on one machine know their links apart */
  constructor(label: string) {
    this.#prefix = `${ROOT}${label}/`;
  }

  veth(name: string, peer: string): string {
    return `${this.#prefix}${name}/${peer}`;
  }

  tap(name: string, vppTap: string, vppHostIfName: string): string {
    return `${this.#prefix}${name}/${vppTap}/${vppHostIfName}`;
  }

  /** Longest mark that the value can get. */
  longest(value: LinuxInterface): string {
    const { name, veth, tap } = value;
    return veth === undefined
      ? this.tap(name, tap?.vpp_tap_if_name ?? '', 'x'.repeat(15))
      : this.veth(name, veth.peer_if_name);
  }

  /** Undefined for a link that is not ours. */
  read(link: LinuxLink): LinkMark | undefined {
    const alias = link.alias ?? '';
    if (!alias.startsWith(this.#prefix)) return undefined;
    const [name = '', second = '', third] = alias.slice(this.#prefix.length).split('/');
    if (name === '' || second === '') return undefined;
    if (third === undefined) return { type: 'VETH', name, peer: second };
    return { type: 'TAP_TO_VPP', name, vppTap: second, vppHostIfName: third };
  }
}

/** Name in the agent's namespace of an end that waits for its value. */
export function pendingEndName(logicalName: string): string {
  return `veth-${fnv1a32(logicalName).toString(16).padStart(8, '0')}`;
}
