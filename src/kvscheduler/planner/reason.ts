/** The reason of an operation. */
export type Reason =
  /** The desired value is another one, or was removed. */
  | { readonly why: 'changed' }
  /** The southbound reports it. */
  | { readonly why: 'notified' }
  /** The southbound has lost it. */
  | { readonly why: 'missing' }
  /** It is managed, but not desired: a resync removes it. */
  | { readonly why: 'orphan' }
  /** It is no value, but something that a read-back has found beside the values. */
  | { readonly why: 'leftover'; readonly what: string }
  /** It is there, but does not work. */
  | { readonly why: 'broken'; readonly what: string }
  /** An earlier operation on it failed. */
  | { readonly why: 'repair' }
  | { readonly why: 'invalid' }
  | { readonly why: 'derived'; readonly from: string }
  | { readonly why: 'dependency met'; readonly key: string }
  | { readonly why: 'dependency lost'; readonly key: string }
  /** The claim has to be released for another value, or is free now. */
  | { readonly why: 'claim'; readonly name: string };

/** The reason as records show it. */
export function reasonText(reason: Reason): string {
  switch (reason.why) {
    case 'orphan':
      return 'leftover';
    case 'leftover':
    case 'broken':
      return `${reason.why}: ${reason.what}`;
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
