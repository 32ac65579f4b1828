import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { PodPolicy } from '../pod-policy.ts';

/** The effect of a change of the input. */
export interface ProcessorChange {
  /** Only those that have changed; undefined: the pod is not attached any more. */
  readonly pods: ReadonlyMap<AttachmentId, PodPolicy | undefined>;
}
