/**
 * The tag of a mapping: the label of its DNAT, and the fields that VPP does not return. Without them a
 * change that was made while the agent was not running would not be detected.
 */
import type { DNat44StaticMapping } from '#models/vpp/dnat44.ts';
import { tagOf, tagToName } from '../tags.ts';
import { isBalanced } from './mapping.ts';

/** Bytes that remain for the label beside the longest text that may follow it. */
const LABEL_ROOM = 46;

const FORM = /^(.*) @(\d+|\d+\.\d+\.\d+\.\d+)$/s;

/** VPP does not return the affinity of several backends, nor the pool's address of one. */
function hiddenOf(mapping: DNat44StaticMapping): string {
  if (!isBalanced(mapping)) return mapping.twice_nat_pool_ip;
  return mapping.session_affinity === 0 ? '' : String(mapping.session_affinity);
}

export function mappingTag(label: string, mapping: DNat44StaticMapping): string {
  const hidden = hiddenOf(mapping);
  return hidden === '' ? tagOf(label) : `${tagOf(label, LABEL_ROOM)} @${hidden}`;
}

/** Whether the label would be decoded as a label with hidden fields. */
export function isAmbiguous(label: string): boolean {
  return FORM.test(label);
}

interface ReadTag {
  readonly label: string;
  /** Empty if the tag contains none. */
  readonly hidden: string;
}

/** @param labels desired or known */
export function tagReader(labels: readonly string[]): (tag: string) => ReadTag {
  const whole = tagToName(labels);
  const short = tagToName(labels, LABEL_ROOM);
  return (tag) => {
    const parts = FORM.exec(tag);
    if (parts === null) return { label: whole(tag), hidden: '' };
    const [, head = '', hidden = ''] = parts;
    return { label: short(head), hidden };
  };
}
