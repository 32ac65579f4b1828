/** Workloads: objects that create pods. */
import { type Static, Type } from 'typebox';
import { objectSchema, Text, TextMap } from './meta.ts';
import { PodSpec } from './pod.ts';

/** More pods of one workload on one node are a typing error. */
const Count = Type.Integer({ minimum: 0, maximum: 10_000 });

export const PodTemplate = Type.Object({
  metadata: Type.Optional(
    Type.Object({
      labels: Type.Optional(TextMap),
      annotations: Type.Optional(TextMap),
    }),
  ),
  spec: PodSpec,
});
export type PodTemplate = Static<typeof PodTemplate>;

const replicated = Type.Object({ replicas: Type.Optional(Count), template: PodTemplate });

const JobSpec = Type.Object({
  parallelism: Type.Optional(Count),
  completions: Type.Optional(Count),
  completionMode: Type.Optional(Text),
  suspend: Type.Optional(Type.Boolean()),
  template: PodTemplate,
});
export type JobSpec = Static<typeof JobSpec>;

export const Deployment = objectSchema('Deployment', { spec: replicated });
export const ReplicaSet = objectSchema('ReplicaSet', { spec: replicated });
export const ReplicationController = objectSchema('ReplicationController', { spec: replicated });
export const DaemonSet = objectSchema('DaemonSet', {
  spec: Type.Object({ template: PodTemplate }),
});
export const StatefulSet = objectSchema('StatefulSet', {
  spec: Type.Object({
    replicas: Type.Optional(Count),
    serviceName: Type.Optional(Text),
    ordinals: Type.Optional(
      Type.Object({
        start: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
      }),
    ),
    template: PodTemplate,
  }),
});
export const Job = objectSchema('Job', { spec: JobSpec });
export const CronJob = objectSchema('CronJob', {
  spec: Type.Object({
    suspend: Type.Optional(Type.Boolean()),
    jobTemplate: Type.Object({ spec: JobSpec }),
  }),
});

export type Workload =
  | Static<typeof Deployment>
  | Static<typeof ReplicaSet>
  | Static<typeof ReplicationController>
  | Static<typeof DaemonSet>
  | Static<typeof StatefulSet>
  | Static<typeof Job>
  | Static<typeof CronJob>;
