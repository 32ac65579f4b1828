/** Values of `/scheduler/dump` as the programs of the original read them. */
import type { EncodeOriginal } from '#kvscheduler/rest/values.ts';
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import { modelOfType } from '#models/registry.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { layer3Table, type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import type {
  BridgeDomainMetadata,
  LinuxInterfaceMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { jsonpbOf, structJsonOf } from './message-json.ts';

export const encodeOriginal: EncodeOriginal = (typeName, value, metadata) => {
  const model = modelOfType(typeName);
  return {
    value: model ? jsonpbOf(model, value) : undefined,
    metadata: metadata === undefined ? null : metadataOf(typeName, value, metadata),
  };
};

function metadataOf(typeName: string, value: object, metadata: unknown): unknown {
  switch (typeName) {
    case vppInterfaceModel.typeName:
      return interfaceMetadata(value as VppInterface, metadata as VppInterfaceMetadata);
    case bridgeDomainModel.typeName:
      return { Index: (metadata as BridgeDomainMetadata).bdId };
    case linuxInterfaceModel.typeName:
      return linuxMetadata(value as LinuxInterface, metadata as LinuxInterfaceMetadata);
    default:
      return metadata;
  }
}

function interfaceMetadata(
  value: VppInterface,
  { swIfIndex, hostIfName }: VppInterfaceMetadata,
): object {
  const { ip_addresses } = value;
  return {
    SwIfIndex: swIfIndex,
    Vrf: layer3Table(value),
    IPAddresses: ip_addresses.length === 0 ? null : ip_addresses,
    TAPHostIfName: hostIfName ?? '',
  };
}

/** The agent does not keep the index of a link: the kernel may give it to another one. */
function linuxMetadata(value: LinuxInterface, { hostIfName }: LinuxInterfaceMetadata) {
  const { namespace } = structJsonOf(linuxInterfaceModel, value) as { readonly namespace?: object };
  return {
    LinuxIfIndex: 0,
    VPPTapName: value.tap?.vpp_tap_if_name ?? '',
    Namespace: namespace ?? null,
    HostIfName: hostIfName,
  };
}
