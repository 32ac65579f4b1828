/** Documents about the policies that isolate the pods of this node. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';
import { CarryingValue, ValueState } from './value-states.ts';

const PolicyPodSummary = Type.Object({
  name: text('namespace/name.'),
  attachment: text('container ID/interface.'),
  addresses: texts('Without prefix length.'),
  ingress: texts('Policies that isolate the pod.'),
  egress: texts('Policies that isolate the pod.'),
  notAsDefined: texts('Those of them that are not carried as defined: they permit less.'),
  values: Type.Array(ValueState, { description: 'The ACLs that carry the policies.' }),
});
export type PolicyPodSummary = DocumentOf<typeof PolicyPodSummary>;

export const PolicyPodList = Type.Array(PolicyPodSummary);

const Isolation = Type.Object({
  isolatedBy: texts('Empty: everything is permitted.'),
  permits: Type.Array(
    Type.Object({
      policy: Type.String(),
      rule: Type.Integer({ description: 'Position in the rules of the policy, from 0.' }),
      peers: texts('Prefixes.'),
      ports: Type.String(),
    }),
  ),
});
export type Isolation = DocumentOf<typeof Isolation>;

const PolicyAttachment = Type.Object({
  attachment: text('container ID/interface.'),
  addresses: texts('Without prefix length.'),
  ingress: Isolation,
  egress: Isolation,
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
  problems: byPolicy('Of the policies that isolate the pod.'),
  limits: byPolicy('Of the policies that isolate the pod.'),
});
export type PolicyPodDocument = DocumentOf<typeof PolicyPodDocument>;
