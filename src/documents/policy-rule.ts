/** A rule of a policy in documents: of a NetworkPolicy, or of a policy of the cluster. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';

export const PolicyRule = Type.Object({
  tier: Type.Enum(['Admin', 'NetworkPolicy', 'Baseline']),
  action: Type.Enum(['Accept', 'Deny', 'Pass']),
  policy: text('namespace/name; of a policy of the cluster its name.'),
  rule: orNull(
    Type.Integer(),
    'Position in the rules of the policy, from 0. null: what the policy denies beside them.',
  ),
  name: Type.Optional(text('Of the rule, as the policy gives it.')),
  text: text('For people: what the rule does, and where it is.'),
  ports: Type.String(),
});
export type PolicyRule = DocumentOf<typeof PolicyRule>;
