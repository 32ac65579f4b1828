/** Pods whose sockets are left alone, because a proxy in them needs the addresses of services. */
import { socketExemptionKey, socketExemptionModel } from '#models/linux/socket-exemption.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Attachment } from '#plugins/podmanager/api.ts';

/** The container of a pod. */
export type PodContainer = Pick<Attachment, 'containerId' | 'networkNamespace'>;

export function exemptionKey({ containerId }: Pick<PodContainer, 'containerId'>): string {
  return socketExemptionKey.build({ name: containerId });
}

/** None without the path of its network namespace. */
export function exemptionValues({ containerId, networkNamespace }: PodContainer): KeyValue[] {
  if (networkNamespace === '') return [];
  const input = { name: containerId, namespace: networkNamespace };
  return [keyValue(socketExemptionModel, input)];
}
