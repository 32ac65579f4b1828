/** The models of the configuration, as ligato's programs identify them. */
import type { ModelDetail, ModelSpec } from '#models/generic/generic.gen.ts';
import type { DeepInput } from '#models/model.ts';
import { type ConfigModel, configModels } from '#models/registry.ts';

/** Class of all models with keys under `config/`. */
const CONFIG_CLASS = 'config';

const ADDRESS = '{{.Interface}}/{{.IpAddress}}';
const DESTINATION = '{{with ipnet .DstNetwork}}{{.IP}}/{{.MaskSize}}{{else}}{{.DstNetwork}}{{end}}';

/**
 * Name of a value in its key, as a template of Go. Clients use their own for the models that they know.
 * A model without a template has one value, whose key has no name.
 */
const nameTemplates: Readonly<Record<string, string>> = {
  'ligato.vpp.interfaces.Interface': '{{.Name}}',
  'ligato.vpp.gso.Segmentation': '{{.Interface}}',
  'ligato.vpp.policer.BandwidthLimit': 'interface/{{.Interface}}/direction/{{.Direction}}',
  'ligato.vpp.flowprobe.Probe': '{{.Interface}}',
  'ligato.vpp.wireguard.Peer': '{{.WgIfName}}/endpoint/{{.Endpoint}}/{{.Port}}',
  'ligato.vpp.l2.BridgeDomain': '{{.Name}}',
  'ligato.vpp.l2.FIBEntry': '{{.BridgeDomain}}/mac/{{.PhysAddress}}',
  'ligato.vpp.l2.XConnectPair': '{{.ReceiveInterface}}',
  'ligato.vpp.l3.VrfTable': 'id/{{.Id}}/protocol/{{.Protocol}}',
  'ligato.vpp.l3.Route': `{{with .OutgoingInterface}}if/{{.}}/{{end}}vrf/{{.VrfId}}/dst/${DESTINATION}{{with .NextHopAddr}}/gw/{{.}}{{end}}`,
  'ligato.vpp.l3.ARPEntry': ADDRESS,
  'ligato.vpp.acl.ACL': '{{.Name}}',
  'ligato.vpp.nat.Nat44Interface': '{{.Name}}',
  'ligato.vpp.nat.Nat44AddressPool':
    '{{if .Name}}{{.Name}}{{else}}vrf/{{.VrfId}}/address/{{.FirstIp}}{{with .LastIp}}-{{.}}{{end}}{{end}}',
  'ligato.vpp.nat.DNat44': '{{.Label}}',
  'ligato.vpp.nat.CnatTranslation': '{{.Protocol}}/{{.ExternalIp}}/{{.ExternalPort}}',
  'ligato.vpp.stn.Rule': '{{.Interface}}/ip/{{.IpAddress}}',
  'ligato.vpp.punt.IPRedirect': 'l3/{{.L3Protocol}}/tx/{{.TxInterface}}',
  'ligato.vpp.punt.ToHost': 'l3/{{.L3Protocol}}/l4/{{.L4Protocol}}/port/{{.Port}}',
  'ligato.linux.interfaces.Interface': '{{.Name}}',
  'ligato.linux.l3.ARPEntry': ADDRESS,
  'ligato.linux.l3.Route': `${DESTINATION}/{{.OutgoingInterface}}`,
  'ligato.linux.socket.SocketService': '{{.Name}}',
  'ligato.linux.socket.SocketNodeAddress': '{{.Address}}',
  'ligato.linux.socket.ServiceLink': '{{.HostIfName}}',
  'ligato.linux.socket.SocketExemption': '{{.Name}}',
};

/** `config/vpp/l2/v2/fib/` is type `fib` of module `vpp.l2`. */
function specOf({ keyPrefix }: ConfigModel): ModelSpec {
  const parts = keyPrefix.split('/').filter((part) => part !== '');
  const versionAt = parts.findIndex((part) => /^v\d+$/.test(part));
  return {
    class: parts[0]!,
    module: parts.slice(1, versionAt).join('.'),
    version: parts[versionAt]!,
    type: parts.slice(versionAt + 1).join('.'),
  };
}

/** `vpp.l2.fib` */
export function modelName(model: ConfigModel): string {
  const { module, type } = specOf(model);
  return `${module}.${type}`;
}

export function modelNamed(name: string): ConfigModel | undefined {
  return configModels.find((model) => modelName(model) === name);
}

/** @param modelClass empty: all */
export function modelDetails(modelClass: string): readonly DeepInput<ModelDetail>[] {
  if (modelClass !== '' && modelClass !== CONFIG_CLASS) return [];
  return configModels.map((model) => ({
    spec: specOf(model),
    proto_name: model.typeName,
    options: [
      { key: 'nameTemplate', values: [nameTemplates[model.typeName] ?? ''] },
      { key: 'protoFile', values: [model.file.name] },
    ],
  }));
}
