/** Documents about the pods that are attached to this node. */
import { type Static, Type } from 'typebox';
import { valueStateSchema, valueStatesSchema } from '#plugins/controller/api/value-states.ts';

const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const attachmentFields = {
  namespace: Type.String(),
  name: Type.String({ description: 'Empty: the pod of an adopted attachment is not known yet.' }),
  containerId: Type.String({ description: 'Of an adopted attachment maybe only its beginning.' }),
  networkNamespace: Type.String({ description: 'Path; empty: it was not found.' }),
  addresses: Type.Array(Type.String(), { description: 'Without prefix length.' }),
  interfaces: orNull(
    Type.Object({
      vpp: Type.Object({
        name: Type.String({ description: 'Logical name.' }),
        swIfIndex: orNull(Type.Integer(), 'Index in VPP; null: VPP does not have it.'),
      }),
      linux: Type.Object({
        name: Type.String({ description: 'Logical name.' }),
        hostName: Type.String({ description: 'Name in the network namespace of the pod.' }),
      }),
    }),
    'null: nothing is configured for the attachment.',
  ),
  isAdopted: Type.Boolean({ description: 'Found by this agent, instead of added.' }),
  isDisplaced: Type.Boolean({ description: 'The path leads to another network namespace.' }),
  attachedAt: orNull(Type.String(), 'RFC 3339; null: unknown.'),
  values: valueStatesSchema,
};

export const podSummarySchema = Type.Object(attachmentFields);
export type PodSummary = Static<typeof podSummarySchema>;

export const podListSchema = Type.Object({
  total: Type.Integer({ description: 'Attachments of this node.' }),
  matching: Type.Integer({
    description: 'Those that match the search; as many as shown, or more.',
  }),
  pods: Type.Array(podSummarySchema, { description: 'By namespace and name.' }),
});

const serviceUseSchema = Type.Object({
  service: Type.String({ description: 'namespace/name.' }),
  kind: Type.String(),
  address: Type.String(),
  port: Type.Integer(),
  protocol: Type.String(),
  portName: Type.String(),
  podAddress: Type.String(),
  targetPort: Type.Integer(),
  whyNotUsed: orNull(Type.String(), 'null: connections are forwarded to the pod.'),
});
export type ServiceUse = Static<typeof serviceUseSchema>;

export const podDocumentSchema = Type.Object({
  namespace: Type.String(),
  name: Type.String(),
  attachments: Type.Array(
    Type.Object({
      ...attachmentFields,
      policies: orNull(
        Type.Object({
          ingress: Type.Array(Type.String(), { description: 'Empty: everything is permitted.' }),
          egress: Type.Array(Type.String(), { description: 'Empty: everything is permitted.' }),
        }),
        'Policies that isolate the pod; null: they are not known for this attachment.',
      ),
      valueStates: Type.Array(valueStateSchema, {
        description: 'All values, with those derived from them, and those that carry its policies.',
      }),
    }),
    { description: 'Newest last; more than one if a predecessor is not deleted yet.' },
  ),
  servicesTotal: Type.Integer({ description: 'Services that have the pod as a backend.' }),
  services: Type.Array(serviceUseSchema, {
    description: 'Their addresses, and the backend that the pod is, of up to 100 services.',
  }),
});
export type PodDocument = Static<typeof podDocumentSchema>;
