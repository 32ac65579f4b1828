/** Documents about the pods that are attached to this node. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';
import { ValueState, ValueStates } from './value-states.ts';

const attachmentFields = {
  namespace: Type.String(),
  name: text('Empty: the pod of an adopted attachment is not known yet.'),
  containerId: text('Of an adopted attachment maybe only its beginning.'),
  networkNamespace: text('Path; empty: it was not found.'),
  addresses: texts('Without prefix length.'),
  interfaces: orNull(
    Type.Object({
      vpp: Type.Object({
        name: text('Logical name.'),
        swIfIndex: orNull(Type.Integer(), 'Index in VPP; null: VPP does not have it.'),
      }),
      linux: Type.Object({
        name: text('Logical name.'),
        hostName: text('Name in the network namespace of the pod.'),
      }),
    }),
    'null: nothing is configured for the attachment.',
  ),
  isAdopted: Type.Boolean({ description: 'Found by this agent, instead of added.' }),
  isDisplaced: Type.Boolean({ description: 'The path leads to another network namespace.' }),
  serviceTranslation: orNull(
    Type.Enum(['sockets', 'packets']),
    'Where addresses of services are translated for the pod: at its `sockets`, or in its `packets` by VPP; null: it reaches none, because nothing carries services for it.',
  ),
  bandwidth: orNull(
    Type.Object({
      ingress: orNull(Type.Number(), 'Bits a second that the pod may receive; null: no limit.'),
      egress: orNull(Type.Number(), 'Bits a second that the pod may send; null: no limit.'),
      problems: texts('Annotations that are not applied, and why.'),
    }),
    'Limits that the annotations of the pod ask for; null: none.',
  ),
  attachedAt: orNull(Type.String(), 'RFC 3339; null: unknown.'),
  values: ValueStates,
};

export const PodSummary = Type.Object(attachmentFields);
export type PodSummary = DocumentOf<typeof PodSummary>;

export const PodList = Type.Object({
  total: Type.Integer({ description: 'Attachments of this node.' }),
  matching: Type.Integer({
    description: 'Those that match the search; as many as shown, or more.',
  }),
  pods: Type.Array(PodSummary, { description: 'By namespace and name.' }),
});
export type PodList = DocumentOf<typeof PodList>;

/** The part of `PodList` that netctl adds to what the original says. */
export const PodSettings = Type.Object({
  pods: Type.Array(
    Type.Object({
      addresses: Type.Array(Type.String()),
      // earlier releases do not say these
      serviceTranslation: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      bandwidth: Type.Optional(attachmentFields.bandwidth),
    }),
  ),
});

const ServiceUse = Type.Object({
  service: text('namespace/name.'),
  kind: Type.String(),
  address: Type.String(),
  port: Type.Integer(),
  protocol: Type.String(),
  portName: Type.String(),
  podAddress: Type.String(),
  targetPort: Type.Integer(),
  whyNotUsed: orNull(Type.String(), 'null: connections are forwarded to the pod.'),
  carriers: texts('What forwards them to the pod: NAT44, cnat, sockets.'),
});
export type ServiceUse = DocumentOf<typeof ServiceUse>;

const PodAttachment = Type.Object({
  ...attachmentFields,
  policies: orNull(
    Type.Object({
      ingress: texts('Empty: everything is permitted.'),
      egress: texts('Empty: everything is permitted.'),
    }),
    'Policies that isolate the pod; null: they are not known for this attachment.',
  ),
  valueStates: Type.Array(ValueState, {
    description: 'All values, with those derived from them, and those that carry its policies.',
  }),
});
export type PodAttachment = DocumentOf<typeof PodAttachment>;

export const PodDocument = Type.Object({
  namespace: Type.String(),
  name: Type.String(),
  attachments: Type.Array(PodAttachment, {
    description: 'Newest last; more than one if a predecessor is not deleted yet.',
  }),
  servicesTotal: Type.Integer({ description: 'Services that have the pod as a backend.' }),
  services: Type.Array(ServiceUse, {
    description: 'Their addresses, and the backend that the pod is, of up to 100 services.',
  }),
});
export type PodDocument = DocumentOf<typeof PodDocument>;
