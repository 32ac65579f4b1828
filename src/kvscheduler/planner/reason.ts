/** Why an operation is in the plan. */
export type Reason =
  /** The northbound asks for another value, or for none. */
  | { readonly why: 'changed' }
  /** The southbound reports it. */
  | { readonly why: 'notified' }
  /** The southbound has lost it. */
  | { readonly why: 'missing' }
  /** Found in the southbound, ours, and not asked for. */
  | { readonly why: 'leftover' }
  /** An earlier operation on it failed. */
  | { readonly why: 'repair' }
  | { readonly why: 'invalid' }
  | { readonly why: 'derived'; readonly from: string }
  | { readonly why: 'dependency met'; readonly key: string }
  | { readonly why: 'dependency lost'; readonly key: string }
  /** Resource given up so that two values can swap what they claim, or waited for. */
  | { readonly why: 'claim'; readonly name: string };

export function reasonText(reason: Reason): string {
  switch (reason.why) {
    case 'derived':
      return `derived from ${reason.from}`;
    case 'dependency met':
    case 'dependency lost':
      return `${reason.why}: ${reason.key}`;
    case 'claim':
      return `claim ${reason.name}`;
    default:
      return reason.why;
  }
}
