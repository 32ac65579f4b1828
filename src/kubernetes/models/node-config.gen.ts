// Made from node-config.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'node-config.proto',
  imports: [],
  nested: { "model": { "nested": { "NodeConfig": { "fields": { "node_name": { "type": "string", "id": 1 }, "main_vpp_interface": { "type": "InterfaceConfig", "id": 2 }, "other_vpp_interfaces": { "rule": "repeated", "type": "InterfaceConfig", "id": 3 }, "steal_interface": { "type": "string", "id": 4 }, "gateway": { "type": "string", "id": 5 }, "nat_external_traffic": { "type": "bool", "id": 6 } }, "nested": { "InterfaceConfig": { "fields": { "interface_name": { "type": "string", "id": 1 }, "ip": { "type": "string", "id": 2 }, "use_dhcp": { "type": "bool", "id": 3 } } } } } } } },
};

/** Settings of one node, from the NodeConfig custom resource. They override contiv.conf. */
export interface NodeConfig {
  readonly node_name: string;
  /** Towards the other nodes. */
  readonly main_vpp_interface?: NodeConfigInterfaceConfig;
  readonly other_vpp_interfaces: readonly NodeConfigInterfaceConfig[];
  /** Host NIC that VPP takes over together with its addresses. */
  readonly steal_interface: string;
  readonly gateway: string;
  /** Source NAT for pod traffic out of the cluster; on if set here or for the whole cluster. */
  readonly nat_external_traffic: boolean;
}
export const NodeConfig: MessageType<NodeConfig> = messageType(file, 'model.NodeConfig');

export interface NodeConfigInterfaceConfig {
  /** VPP's name of the NIC, for example GigabitEthernet0/8/0. */
  readonly interface_name: string;
  /** CIDR; overrides use_dhcp on the main interface. */
  readonly ip: string;
  readonly use_dhcp: boolean;
}
export const NodeConfigInterfaceConfig: MessageType<NodeConfigInterfaceConfig> = messageType(file, 'model.NodeConfig.InterfaceConfig');
