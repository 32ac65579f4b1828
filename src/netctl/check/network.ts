/** Links, ports and the folders of CNI of this machine. */
import { cniFolders, OWN_CONFIGURATION } from './cni-folders.ts';
import { error, type Finding, ok, warning } from './finding.ts';
import type { HostFiles } from './host-files.ts';

/** Of VXLAN over IPv4. */
const VXLAN_BYTES = 50;
/** The least MTU of IPv6. */
const LEAST_MTU = 1_280;

const OWN_SOCKET = '/var/run/contiv/agent.sock';

const tcpPorts = [
  { port: 9999, of: 'the agent' },
  { port: 9191, of: 'contiv-ksr' },
  { port: 12379, of: 'etcd' },
  { port: 32379, of: 'etcd' },
] as const;
const VXLAN_PORT = 4789;

export function networkFindings(files: HostFiles): Finding[] {
  return [mtu(files), ...folders(files), ports(files)];
}

function mtu(files: HostFiles): Finding {
  const subject = 'MTU of links';
  const all = (files.names('/sys/class/net') ?? []).filter((name) => name !== 'lo');
  // A link of hardware, which also virtual machines have. Containers have none.
  const nics = all.filter((name) => files.has(`/sys/class/net/${name}/device`));
  const links = (nics.length > 0 ? nics : all).flatMap((name) => {
    const size = files.number(`/sys/class/net/${name}/mtu`);
    return size === undefined ? [] : [{ name, size }];
  });
  const text = links.map(({ name, size }) => `${name} ${size}`).join(', ');
  if (links.length === 0)
    return warning(
      subject,
      'there is no link',
      'Nodes reach each other by a link, or by a NIC that VPP drives.',
    );
  const sizes = links.map(({ size }) => size);
  const least = Math.min(...sizes);
  if (least < LEAST_MTU + VXLAN_BYTES)
    return warning(
      subject,
      text,
      `Pods get ${VXLAN_BYTES} bytes less for VXLAN: IPv6 needs ${LEAST_MTU}. Raise the MTU, or set noOverlay.`,
    );
  if (least !== Math.max(...sizes))
    return warning(
      subject,
      text,
      'Pods get the MTU of the link that VPP uses, less 50 bytes: it has to be the same on all nodes, and on the switches between them.',
    );
  return ok(subject, `${text}; pods get ${least - VXLAN_BYTES} with VXLAN`);
}

function folders(files: HostFiles): Finding[] {
  const { bin, config } = cniFolders(files);
  return [binFolder(files, bin), configFolder(files, config)];
}

function binFolder(files: HostFiles, folder: string): Finding {
  const subject = 'CNI programs';
  const found = files.names(folder);
  const missing = ['loopback', 'portmap'].filter((name) => !found?.includes(name));
  if (missing.length === 0) return ok(subject, `loopback and portmap in ${folder}`);
  return error(
    subject,
    found === undefined ? `no folder ${folder}` : `${folder} lacks ${missing.join(' and ')}`,
    'Install the package kubernetes-cni (1.2 or later); for another folder set cni.binFolder of the chart.',
  );
}

function configFolder(files: HostFiles, folder: string): Finding {
  const subject = 'CNI configuration';
  const found = files.names(folder);
  if (found === undefined)
    return warning(
      subject,
      `no folder ${folder}`,
      'The agent creates it. If the container runtime reads another one, set cni.configFolder of the chart.',
    );
  const others = found.filter(
    (name) => /\.(conf|conflist|json)$/.test(name) && name !== OWN_CONFIGURATION,
  );
  // The container runtime takes the first one by name.
  const before = others.filter((name) => name < OWN_CONFIGURATION);
  if (before.length > 0)
    return error(
      subject,
      `${before.join(', ')} in ${folder} comes before ${OWN_CONFIGURATION}`,
      'Remove the other network plugin and its file: the runtime takes the first by name.',
    );
  if (others.length > 0)
    return warning(
      subject,
      `${others.join(', ')} in ${folder}`,
      `Another network plugin is configured. Its file is not used while ${OWN_CONFIGURATION} exists; remove the plugin.`,
    );
  return ok(subject, `${folder} has no other network plugin`);
}

function ports(files: HostFiles): Finding {
  const subject = 'ports';
  const tcp = usedPorts(files, 'tcp', '0A');
  const used = tcpPorts
    .filter(({ port }) => tcp.has(port))
    .map(({ port, of }) => `TCP ${port} (${of})`);
  if (usedPorts(files, 'udp').has(VXLAN_PORT)) used.push(`UDP ${VXLAN_PORT} (VXLAN)`);
  if (used.length === 0) return ok(subject, 'all that Contiv uses are free');
  const text = `in use: ${used.join(', ')}`;
  if (files.has(OWN_SOCKET)) return ok(subject, `${text}, and an agent runs here`);
  return warning(
    subject,
    text,
    'ss -lntup shows the programs. End them, or configure other ports, unless they belong to Contiv.',
  );
}

/** @param state of the sockets as the kernel writes it; undefined: all */
function usedPorts(files: HostFiles, protocol: 'tcp' | 'udp', state?: string): Set<number> {
  const lines = ['', '6'].flatMap((family) =>
    (files.text(`/proc/net/${protocol}${family}`) ?? '').split('\n').slice(1),
  );
  const used = new Set<number>();
  for (const line of lines) {
    const [, local = '', , its] = line.trim().split(/\s+/);
    const port = local.split(':')[1];
    if (port !== undefined && (state === undefined || its === state))
      used.add(Number.parseInt(port, 16));
  }
  return used;
}
