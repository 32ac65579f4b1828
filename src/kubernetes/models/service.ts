import { defineModel, type MessageModel } from '#models/define.ts';
import { withEmptyMap } from './empty-map.ts';
import { namespacedKey } from './keys.ts';
import { Service } from './service.gen.ts';
import { addressOrText, cidrOrText } from './shared-rules.ts';

export type { Service, ServiceServicePort as ServicePort } from './service.gen.ts';

export const serviceKey = namespacedKey('service');

const model = defineModel<Service>({
  message: Service,
  keyPrefix: serviceKey.prefix(),
  key: ({ name, namespace }) => serviceKey.build({ name, namespace }),
  rules: {
    cluster_ip: addressOrText,
    external_ips: addressOrText,
    lb_ingress_ips: addressOrText,
    loadbalancer_ip: addressOrText,
    cluster_ips: addressOrText,
    lb_proxy_ips: addressOrText,
    loadbalancer_source_ranges: cidrOrText,
  },
});

export const serviceModel: MessageModel<Service> = {
  ...model,
  toJson: (value) => withEmptyMap(model.toJson(value), Service, 'annotations'),
};
