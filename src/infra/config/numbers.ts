import { Type } from 'typebox';

export interface LeastOptions {
  readonly maximum: number;
  readonly description: string;
}

/** Schema of a size whose default 0 stands for another one; sizes below the least one would be useless. */
export function zeroOrAtLeast(least: number, options: LeastOptions) {
  return Type.Refine(
    Type.Integer({ minimum: 0, default: 0, ...options }),
    (value) => value === 0 || value >= least,
    () => `has to be 0 or at least ${least}`,
  );
}
