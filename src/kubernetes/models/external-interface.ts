import { defineModel } from '#models/define.ts';
import { ExternalInterface } from './external-interface.gen.ts';
import { clusterKey } from './keys.ts';

export type {
  ExternalInterface,
  ExternalInterfaceNodeInterface,
} from './external-interface.gen.ts';

export const externalInterfaceKey = clusterKey('external-interface');

export const externalInterfaceModel = defineModel<ExternalInterface>({
  message: ExternalInterface,
  keyPrefix: externalInterfaceKey.prefix(),
  key: ({ name }) => externalInterfaceKey.build({ name }),
});
