/**
 * The tag of a mapping: the label of its DNAT, and what VPP is told of the mapping but never tells
 * again. Without it a change that was made while no agent ran would not be seen.
 */
import type { DNat44StaticMapping } from '#models/vpp/dnat44.ts';
import { tagOf, tagToName } from '../tags.ts';
import { isBalanced } from './mapping.ts';

/** What is left for the label beside the longest text that may follow it. */
const LABEL_ROOM = 46;

const FORM = /^(.*) @(\d+|\d+\.\d+\.\d+\.\d+)$/s;

/** VPP does not tell the affinity of several backends, nor the pool's address of one. */
function hiddenOf(mapping: DNat44StaticMapping): string {
  if (!isBalanced(mapping)) return mapping.twice_nat_pool_ip;
  return mapping.session_affinity === 0 ? '' : String(mapping.session_affinity);
}

export function mappingTag(label: string, mapping: DNat44StaticMapping): string {
  const hidden = hiddenOf(mapping);
  return hidden === '' ? tagOf(label) : `${tagOf(label, LABEL_ROOM)} @${hidden}`;
}

/** A label that would read as one with something behind it. */
export function isAmbiguous(label: string): boolean {
  return FORM.test(label);
}

interface ReadTag {
  readonly label: string;
  /** Empty where the tag says nothing. */
  readonly hidden: string;
}

/** @param labels that are wanted or known */
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
