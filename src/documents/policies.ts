/** Documents about the policies that apply to the pods of this node. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';
import { PolicyRule } from './policy-rule.ts';
import { CarryingValue, ValueState } from './value-states.ts';

const PolicyPodSummary = Type.Object({
  name: text('namespace/name.'),
  attachment: text('container ID/interface.'),
  addresses: texts('Without prefix length.'),
  ingress: texts('Policies that apply to the pod.'),
  egress: texts('Policies that apply to the pod.'),
  notAsDefined: texts('Those of them that are not carried as defined: they permit less.'),
  values: Type.Array(ValueState, { description: 'The ACLs that carry the policies.' }),
});
export type PolicyPodSummary = DocumentOf<typeof PolicyPodSummary>;

export const PolicyPodList = Type.Array(PolicyPodSummary);

const RuleList = Type.Object({
  policies: texts('In the order in which they decide. Empty: everything is permitted.'),
  rules: Type.Array(Type.Object({ ...PolicyRule.properties, peers: texts('Prefixes.') }), {
    description: 'The first one that matches decides, or passes to the next tier.',
  }),
});
export type RuleList = DocumentOf<typeof RuleList>;

const PolicyAttachment = Type.Object({
  attachment: text('container ID/interface.'),
  addresses: texts('Without prefix length.'),
  ingress: RuleList,
  egress: RuleList,
  values: Type.Array(CarryingValue, { description: 'The ACLs that carry the policies.' }),
});
export type PolicyAttachment = DocumentOf<typeof PolicyAttachment>;

const byPolicy = (description: string) =>
  Type.Record(Type.String(), Type.Array(Type.String()), { description });

export const PolicyPodDocument = Type.Object({
  name: text('namespace/name.'),
  renderer: orNull(Type.String(), 'That carries the policies.'),
  attachments: Type.Array(PolicyAttachment, {
    description: 'More than one if a predecessor of the same name is not deleted yet.',
  }),
  problems: byPolicy('Of the policies that apply to the pod.'),
  limits: byPolicy('Of the policies that apply to the pod.'),
});
export type PolicyPodDocument = DocumentOf<typeof PolicyPodDocument>;
