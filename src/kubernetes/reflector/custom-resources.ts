/** Values of Contiv's custom resources. The name of a resource is the name of its value. */

import type { DeepInput } from '#models/model.ts';
import { type CustomNetwork, customNetworkModel } from '../models/custom-network.ts';
import { type ExternalInterface, externalInterfaceModel } from '../models/external-interface.ts';
import {
  type NodeConfig,
  type NodeConfigInterfaceConfig,
  nodeConfigModel,
} from '../models/node-config.ts';
import {
  type ServiceFunctionChain,
  serviceFunctionChainModel,
} from '../models/service-function-chain.ts';
import type {
  KubeCustomNetwork,
  KubeExternalInterface,
  KubeInterfaceConfig,
  KubeNodeConfig,
  KubeServiceFunctionChain,
} from './objects/custom-resources.ts';

export function nodeConfigValue({ metadata, spec }: KubeNodeConfig): NodeConfig {
  const main = spec.mainVPPInterface;
  return nodeConfigModel.canonical({
    node_name: metadata.name,
    // an interface without a name is ignored: the agent chooses
    main_vpp_interface: main?.interfaceName ? interfaceConfig(main) : undefined,
    other_vpp_interfaces: spec.otherVPPInterfaces?.map(interfaceConfig),
    steal_interface: spec.stealInterface,
    gateway: spec.gateway,
    nat_external_traffic: spec.natExternalTraffic,
  });
}

function interfaceConfig(config: KubeInterfaceConfig): DeepInput<NodeConfigInterfaceConfig> {
  return { interface_name: config.interfaceName, ip: config.ip, use_dhcp: config.useDHCP };
}

export function customNetworkValue({ metadata, spec }: KubeCustomNetwork): CustomNetwork {
  return customNetworkModel.canonical({
    name: metadata.name,
    type: spec.type,
    subnetCIDR: spec.subnetCIDR,
    subnet_one_node_prefix: spec.subnetOneNodePrefixLen ?? spec.subnetOneNodePrefix,
  });
}

export function externalInterfaceValue(object: KubeExternalInterface): ExternalInterface {
  const { metadata, spec } = object;
  return externalInterfaceModel.canonical({
    name: metadata.name,
    type: spec.type,
    network: spec.network,
    nodes: spec.nodes?.map((one) => ({
      node: one.node,
      vpp_interface_name: one.vppInterfaceName,
      ip: one.ip,
      vlan: one.vlan,
    })),
  });
}

export function serviceFunctionChainValue(object: KubeServiceFunctionChain): ServiceFunctionChain {
  const { metadata, spec } = object;
  return serviceFunctionChainModel.canonical({
    name: metadata.name,
    unidirectional: spec.unidirectional,
    network: spec.network,
    chain: spec.chain?.map((one) => ({
      name: one.name,
      type: one.type,
      pod_selector: one.podSelector,
      interface: one.interface,
      input_interface: one.inputInterface,
      output_interface: one.outputInterface,
    })),
  });
}
