import { defineModel } from '#models/define.ts';
import { keyTemplate } from '#models/key-template.ts';
import { CustomIPAllocation } from './custom-ipam.gen.ts';

export type {
  CustomIPAllocation,
  CustomPodInterface,
} from './custom-ipam.gen.ts';

/** `custom-ipam/<pod>/<namespace>`, unlike the keys of other resources. */
export const customIpamKey = keyTemplate('custom-ipam/{name}/{namespace}', {
  name: '[^/]+',
  namespace: '[^/]+',
});

export const customIpamModel = defineModel<CustomIPAllocation>({
  message: CustomIPAllocation,
  keyPrefix: customIpamKey.prefix(),
  key: ({ pod_name, pod_namespace }) =>
    customIpamKey.build({ name: pod_name, namespace: pod_namespace }),
});
