import { defineModel } from '#models/define.ts';
import { clusterKey } from './keys.ts';
import { Namespace } from './namespace.gen.ts';
import { labels } from './shared-rules.ts';

export type { Namespace } from './namespace.gen.ts';

export const namespaceKey = clusterKey('namespace');

export const namespaceModel = defineModel<Namespace>({
  message: Namespace,
  keyPrefix: namespaceKey.prefix(),
  key: ({ name }) => namespaceKey.build({ name }),
  rules: { label: labels },
});
