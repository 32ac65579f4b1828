// Made from service-function-chain.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'service-function-chain.proto',
  imports: [],
  nested: { "model": { "nested": { "ServiceFunctionChain": { "fields": { "name": { "type": "string", "id": 1 }, "unidirectional": { "type": "bool", "id": 2 }, "network": { "type": "string", "id": 3 }, "chain": { "rule": "repeated", "type": "ServiceFunction", "id": 4 } }, "nested": { "ServiceFunction": { "fields": { "name": { "type": "string", "id": 1 }, "type": { "type": "Type", "id": 2 }, "pod_selector": { "keyType": "string", "type": "string", "id": 3 }, "interface": { "type": "string", "id": 6 }, "input_interface": { "type": "string", "id": 4 }, "output_interface": { "type": "string", "id": 5 } }, "nested": { "Type": { "values": { "Pod": 0, "ExternalInterface": 1 } } } } } } } } },
};

/** A chain of pods and NICs that traffic passes, from the ServiceFunctionChain custom resource. */
export interface ServiceFunctionChain {
  readonly name: string;
  readonly unidirectional: boolean;
  /** Custom network; empty: the default pod network. */
  readonly network: string;
  readonly chain: readonly ServiceFunctionChainServiceFunction[];
}
export const ServiceFunctionChain: MessageType<ServiceFunctionChain> = messageType(file, 'model.ServiceFunctionChain');

export interface ServiceFunctionChainServiceFunction {
  readonly name: string;
  readonly type: ServiceFunctionChainServiceFunctionType;
  /** Labels of the pods. */
  readonly pod_selector: Readonly<Record<string, string>>;
  /** Interface by which traffic enters and leaves. */
  readonly interface: string;
  readonly input_interface: string;
  readonly output_interface: string;
}
export const ServiceFunctionChainServiceFunction: MessageType<ServiceFunctionChainServiceFunction> = messageType(file, 'model.ServiceFunctionChain.ServiceFunction');

export type ServiceFunctionChainServiceFunctionType =
  | 'Pod'
  | 'ExternalInterface';
