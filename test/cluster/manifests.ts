/** Objects of the deployment: the shipped manifest with the settings of an operator, and DNS. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { vhostNetLibrary } from '#test/support/vhost-net.ts';
import { MANIFEST, renderChart } from '../../scripts/lib/deploy/chart.ts';
import { type AddressFamily, addressFamilies, bracketed, networksOf } from './address-family.ts';
import { API_PORT } from './kubeconfig.ts';
import { gateway, hostAddress, nodeName, vppAddress } from './network.ts';
import { type ClusterSettings, defaultSettings, kubeProxyModes } from './settings.ts';

interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface ConfigMap extends KubeObject {
  readonly data: Record<string, string>;
}

interface Container {
  readonly name: string;
  readonly command: string[];
  readonly env: { name: string; value: string }[];
  readonly volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface Workload extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: Container[]; readonly volumes: object[] };
    };
  };
}

const repository = resolve(import.meta.dirname, '../..');
const PRELOADED = '/usr/local/lib/vhost-net';
/** Command of the agent's container before which the list of devices is replaced. */
const REMOUNT = 'mount -o remount,rw,bind /proc/sys\n';

/** The manifest of this tree, or its chart with other values, for a cluster. */
export function ownDeployment(settings: ClusterSettings): readonly KubeObject[] {
  const { nodes, kubeProxy, families, transport } = settings;
  const text = isShipped(settings)
    ? readFileSync(join(repository, MANIFEST), 'utf8')
    : renderChart(valuesOf(settings));
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  const { data } = find<ConfigMap>(objects, 'ConfigMap', 'contiv-agent-cfg');
  data['contiv.conf'] = stringify({
    ...(parse(data['contiv.conf']!) as object),
    ...(transport === defaultSettings.transport ? {} : { nodeToNodeTransport: transport }),
    nodeConfig: Array.from({ length: nodes }, (_, i) => ({
      nodeName: nodeName(i + 1),
      mainVPPInterface: { interfaceName: 'host-eth1', ip: vppAddresses(i + 1, families) },
      gateway: gateway(families[0]!),
    })),
  });
  if (kubeProxy === 'none') nameAddresses(objects, families[0]!);
  const library = vhostNetLibrary();
  if (library !== undefined) replaceVhostNet(objects, library);
  return objects;
}

/** In what the deployment differs from the manifest, a sentence each. */
export function exceptionsOf(settings: ClusterSettings): string[] {
  const { kubeProxy, transport, etcdProxies } = settings;
  const exceptions = [
    'contiv.conf: nodeConfig names the link that each VPP has to the network (docs/install.md)',
  ];
  if (!hasShippedNetworks(settings))
    exceptions.push(
      'families other than IPv4 alone: the chart, rendered with their networks (docs/networking.md)',
    );
  if (etcdProxies > 0)
    exceptions.push('proxies of etcd: the chart, rendered with etcd.proxies (docs/scale.md)');
  if (transport !== defaultSettings.transport)
    exceptions.push('contiv.conf: nodeToNodeTransport, where the cluster names another than vxlan');
  if (kubeProxy === 'none')
    exceptions.push(
      'with kube-proxy: none, etcd.address and ksr.apiServer.address are those of n1 (docs/install.md)',
    );
  if (vhostNetLibrary() !== undefined)
    exceptions.push(
      'VPP preloads a library that stands for /dev/vhost-net, which the kernel of this machine lacks; ' +
        'the agent sees the device in a copy of /proc/misc',
    );
  return exceptions;
}

/** Those of any kind of cluster. */
export function allExceptions(): string[] {
  const kinds = [
    ...kubeProxyModes.map((kubeProxy) => ({ ...defaultSettings, kubeProxy })),
    { ...defaultSettings, families: addressFamilies },
    { ...defaultSettings, transport: 'wireguard' as const },
    { ...defaultSettings, etcdProxies: 2 },
  ];
  return [...new Set(kinds.flatMap(exceptionsOf))];
}

const hasShippedNetworks = ({ families }: ClusterSettings): boolean => families.join() === 'ipv4';

/** Whether the manifest is what the chart gives for it. */
const isShipped = (settings: ClusterSettings): boolean =>
  hasShippedNetworks(settings) && settings.etcdProxies === 0;

const valuesOf = ({ families, etcdProxies }: ClusterSettings): object => ({
  agent: { config: { contiv: { ipamConfig: ipamOf(families) } } },
  etcd: { proxies: etcdProxies },
});

/** `ipamConfig`, each key with the networks of all families. */
const ipamOf = (families: readonly AddressFamily[]): Record<string, string> =>
  Object.fromEntries(
    Object.keys(networksOf.ipv4.ipam).map((key) => [
      key,
      families.map((family) => networksOf[family].ipam[key]).join(),
    ]),
  );

const vppAddresses = (node: number, families: readonly AddressFamily[]): string =>
  families.map((family) => `${vppAddress(node, family)}/${networksOf[family].prefixLength}`).join();

/** As the chart does it for these two values. */
function nameAddresses(objects: readonly KubeObject[], family: AddressFamily): void {
  const pods = [
    find<Workload>(objects, 'DaemonSet', 'contiv-vswitch'),
    find<Workload>(objects, 'Deployment', 'contiv-ksr'),
  ];
  for (const { env } of pods.flatMap(({ spec }) => spec.template.spec.containers)) {
    const etcd = env.find(({ name }) => name === 'ETCD_ENDPOINTS');
    if (etcd) etcd.value = `${bracketed(hostAddress(1, family))}:12379`;
    env.push(
      { name: 'KUBERNETES_SERVICE_HOST', value: hostAddress(1, family) },
      { name: 'KUBERNETES_SERVICE_PORT', value: String(API_PORT) },
    );
  }
}

function replaceVhostNet(objects: readonly KubeObject[], library: string): void {
  const { containers, volumes } = find<Workload>(objects, 'DaemonSet', 'contiv-vswitch').spec
    .template.spec;
  const container = (name: string): Container => {
    const found = containers.find((container) => container.name === name);
    if (found === undefined) throw new Error(`the manifest has no container ${name}`);
    return found;
  };
  const vpp = container('contiv-vpp');
  vpp.env.push({ name: 'LD_PRELOAD', value: `${PRELOADED}.so` });
  vpp.volumeMounts.push({ name: 'vhost-net', mountPath: `${PRELOADED}.so`, readOnly: true });
  volumes.push({ name: 'vhost-net', hostPath: { path: library, type: 'File' } });
  const { command } = container('contiv-agent');
  const script = command.findIndex((word) => word.includes(REMOUNT));
  if (script < 0) throw new Error('the manifest does not remount /proc/sys in the agent');
  const list =
    '(cat /proc/misc; echo 238 vhost-net) >/tmp/misc; mount --bind /tmp/misc /proc/misc\n';
  command[script] = command[script]!.replace(REMOUNT, REMOUNT + list);
}

function find<T extends KubeObject>(objects: readonly KubeObject[], kind: string, name: string): T {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`the manifest has no ${kind} ${name}`);
  return found as T;
}

/** Rights that kubeadm gives, and CoreDNS as it deploys it. */
export function clusterObjects({ families }: ClusterSettings): unknown[] {
  const text = readFileSync(join(import.meta.dirname, 'cluster.yaml'), 'utf8').replace(
    'CLUSTER_DNS',
    networksOf[families[0]!].dns,
  );
  return parseAllDocuments(text).map((document) => document.toJS());
}
