/** Shapes of `POST /contiv/v1/policy/plan`. */

export interface PlanDocument {
  readonly problems: readonly { readonly text: string }[];
  readonly operations: readonly PlannedOperation[];
  readonly services: readonly ServiceChange[];
  readonly changes: readonly ConnectionChange[];
}

export interface PlannedOperation {
  readonly operation: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly before: object | null;
  readonly after: object | null;
}

export interface ServiceChange {
  readonly service: string;
  /** null: nothing of it is served. */
  readonly before: readonly ServedAddress[] | null;
  readonly after: readonly ServedAddress[] | null;
}

export interface ServedAddress {
  readonly kind: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: string;
  /** `address:port`. */
  readonly backends: readonly string[];
}

export interface ConnectionChange {
  readonly from: string;
  readonly to: string;
  readonly before: string;
  readonly after: string;
}
