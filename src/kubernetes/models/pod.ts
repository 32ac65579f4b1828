import { defineModel, type MessageModel } from '#models/define.ts';
import { withEmptyMap } from './empty-map.ts';
import { namespacedKey } from './keys.ts';
import { Pod } from './pod.gen.ts';
import { addressOrText, labels } from './shared-rules.ts';

export type { Pod, PodContainer, PodContainerPort } from './pod.gen.ts';

export const podKey = namespacedKey('pod');

const model = defineModel<Pod>({
  message: Pod,
  keyPrefix: podKey.prefix(),
  key: ({ name, namespace }) => podKey.build({ name, namespace }),
  rules: {
    label: labels,
    ip_address: addressOrText,
    host_ip_address: addressOrText,
    ip_addresses: addressOrText,
    container: { port: { host_ip_address: addressOrText } },
  },
});

export const podModel: MessageModel<Pod> = {
  ...model,
  toJson: (value) => withEmptyMap(model.toJson(value), Pod, 'annotations'),
};
