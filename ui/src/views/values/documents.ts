/** `GET /scheduler/values`, `/scheduler/value` and `/scheduler/key-timeline`, as docs/rest.md describes them. */

export interface SearchDocument {
  /** Number of all values by state. */
  readonly states: Readonly<Record<string, number>>;
  readonly total: number;
  readonly matches: number;
  readonly values: readonly ValueSummary[];
  readonly hasMore: boolean;
}

export interface ValueSummary {
  readonly key: string;
  readonly state: string;
  readonly descriptor?: string;
  readonly lastOperation?: string;
  readonly error?: string;
  readonly derivedFrom?: string;
  readonly details: readonly string[];
  readonly detailCount: number;
}

/** `GET /scheduler/dump` without arguments. */
export interface DumpIndex {
  readonly Descriptors: readonly string[];
}

export interface RelatedValue {
  readonly key: string;
  readonly state: string;
}

export interface DependencyDocument {
  readonly label: string;
  readonly key?: string;
  readonly prefixes?: readonly string[];
  readonly isSelective?: boolean;
  readonly isMet: boolean;
  readonly values: readonly RelatedValue[];
  readonly hasMore: boolean;
  /** Some that would meet it if they were available. */
  readonly unavailable: readonly RelatedValue[];
}

export interface DependentValue extends RelatedValue {
  readonly labels: readonly string[];
  readonly isWaiting: boolean;
}

export interface RetriesDocument {
  readonly started: number;
  /** 0: without limit. */
  readonly maximum: number;
  /** RFC 3339; absent: no further retry. */
  readonly nextAt?: string;
  readonly firstTransaction: number;
}

export interface ValueDocument extends RelatedValue {
  readonly lastValidState?: string;
  readonly descriptor?: string;
  readonly type?: string;
  readonly lastOperation?: string;
  readonly lastTransaction?: number;
  readonly error?: string;
  readonly invalidFields: readonly string[];
  readonly waitsFor: readonly string[];
  readonly retries?: RetriesDocument;
  readonly isAsDesired: boolean;
  readonly desired: unknown;
  readonly actual: unknown;
  readonly rejected?: { readonly value: unknown; readonly error: string };
  readonly metadata: unknown;
  readonly derivedFrom?: RelatedValue;
  readonly derived: { readonly total: number; readonly values: readonly RelatedValue[] };
  readonly dependencies: { readonly total: number; readonly list: readonly DependencyDocument[] };
  readonly dependents: { readonly total: number; readonly values: readonly DependentValue[] };
}

/** A revision of `GET /scheduler/key-timeline`. */
export interface RecordedRevision {
  /** RFC 3339. */
  readonly Since: string;
  /** Year 1: it has not ended. */
  readonly Until: string;
  readonly Value: { readonly ProtoMsgData: unknown } | null;
  readonly Flags: {
    readonly 'value-state'?: string;
    readonly 'last-update'?: string;
    readonly error?: string;
  };
}
