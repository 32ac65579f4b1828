import { defineModel, type MessageModel } from '#models/define.ts';
import { withEmptyMap } from './empty-map.ts';
import { clusterKey } from './keys.ts';
import {
  ServiceFunctionChain,
  ServiceFunctionChainServiceFunction,
} from './service-function-chain.gen.ts';

export type {
  ServiceFunctionChain,
  ServiceFunctionChainServiceFunction as ServiceFunction,
} from './service-function-chain.gen.ts';

export const serviceFunctionChainKey = clusterKey('servicefunctionchain');

const model = defineModel<ServiceFunctionChain>({
  message: ServiceFunctionChain,
  keyPrefix: serviceFunctionChainKey.prefix(),
  key: ({ name }) => serviceFunctionChainKey.build({ name }),
});

export const serviceFunctionChainModel: MessageModel<ServiceFunctionChain> = {
  ...model,
  toJson: (value) => {
    const json = model.toJson(value) as { readonly chain?: readonly unknown[] };
    if (json.chain === undefined) return json;
    const chain = json.chain.map((element) =>
      withEmptyMap(element, ServiceFunctionChainServiceFunction, 'pod_selector'),
    );
    return { ...json, chain };
  },
};
