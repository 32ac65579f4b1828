/** The state of a node that a packet trace needs. */
import { Type } from 'typebox';
import { texts } from './document.ts';

const TracedRules = Type.Array(
  Type.Object({
    tier: Type.String(),
    action: Type.Enum(['Accept', 'Deny', 'Pass']),
    text: Type.String({ description: 'For people: the action, and where the rule is.' }),
    peers: texts('Networks of the other ends.'),
    ports: Type.Optional(
      Type.Array(
        Type.Object({
          protocol: Type.String(),
          first: Type.Integer(),
          last: Type.Integer(),
        }),
        { description: 'Absent: all, and protocols without ports.' },
      ),
    ),
  }),
);

export const NodeSnapshot = Type.Object({
  name: Type.String(),
  hostAddresses: texts('Of the host, without prefix length, that the agent has not configured.'),
  pods: Type.Record(Type.String(), Type.String(), {
    description: 'namespace/name to address without prefix length.',
  }),
  values: Type.Record(Type.String(), Type.Unknown(), { description: 'Configured values by key.' }),
  isolation: Type.Optional(
    Type.Object(
      {
        acls: texts('Keys of the ACLs that carry policies.'),
        pods: Type.Array(
          Type.Object({
            pod: Type.String({ description: 'namespace/name' }),
            addresses: texts('Without prefix length.'),
            ingress: texts('Policies that apply to what it receives, as namespace/name.'),
            egress: texts('Policies that apply to what it sends, as namespace/name.'),
            rules: Type.Optional(
              Type.Object(
                { ingress: TracedRules, egress: TracedRules },
                { description: 'In the order in which they decide. Absent: only NetworkPolicies.' },
              ),
            ),
          }),
        ),
        services: Type.Optional(
          Type.Array(
            Type.Object({
              service: Type.String({ description: 'namespace/name' }),
              address: Type.String(),
              port: Type.Integer(),
              protocol: Type.Enum(['TCP', 'UDP']),
              ranges: texts('Networks of its clients. Empty: it has no client.'),
              refusesSockets: Type.Boolean({
                description: 'Whether sockets of this node are refused.',
              }),
            }),
            { description: 'Addresses of load balancers that are not for everyone.' },
          ),
        ),
      },
      {
        description:
          'The pods of the node that policies isolate, and services with restricted clients.',
      },
    ),
  ),
  actual: Type.Optional(
    Type.Unknown({
      description: 'Only in the view SB: the state of VPP and the kernel, managed or not.',
    }),
  ),
});
