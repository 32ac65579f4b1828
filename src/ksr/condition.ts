/** Conditions of objects, as the API has them. */
export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** Without what depends on the object and the time. */
export interface ConditionContent {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
}

export interface Condition extends ConditionContent {
  readonly observedGeneration: number;
  readonly lastTransitionTime?: string;
}
