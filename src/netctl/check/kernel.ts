/** The kernel of this machine: release, memory, file systems, rights, devices. */
import { error, type Finding, ok, warning } from './finding.ts';
import type { HostFiles } from './host-files.ts';

/** Services at sockets were tried from here on (docs/services.md). */
const socketServices = [5, 10] as const;
/** Programs at links, which serve clients outside at NICs of the host. */
const linkPrograms = [6, 6] as const;

/** Pages of 2 MiB that the pod requests. */
const HUGE_PAGES = 256;
const HUGE_FOLDER = '/sys/kernel/mm/hugepages/hugepages-2048kB';

export function kernelFindings(files: HostFiles): Finding[] {
  return [
    release(files),
    hugePages(files),
    controlGroups(files),
    bpfFileSystem(files),
    rights(files),
    ...devices.map((device) => deviceFinding(files, device)),
  ];
}

function release(files: HostFiles): Finding {
  const subject = 'kernel';
  const text = files.text('/proc/sys/kernel/osrelease')?.trim() ?? '';
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text) ?? [];
  if (major === undefined)
    return error(subject, `${text || 'no release'}: this is no Linux`, 'Check a node with Linux.');
  const isFrom = ([a, b]: readonly [number, number]): boolean =>
    Number(major) > a || (Number(major) === a && Number(minor) >= b);
  if (!isFrom(socketServices))
    return warning(
      subject,
      `Linux ${text}: Contiv was not tried with it`,
      'Use Linux 5.10 or later; 6.6 or later for all ways of services.',
    );
  if (!isFrom(linkPrograms))
    return warning(
      subject,
      `Linux ${text}: no programs at links`,
      'With services at sockets, clients outside have to ask an address of VPP; Linux 6.6 serves them at NICs of the host.',
    );
  return ok(subject, `Linux ${text}`);
}

function hugePages(files: HostFiles): Finding {
  const subject = 'huge pages';
  const total = files.number(`${HUGE_FOLDER}/nr_hugepages`) ?? 0;
  const free = files.number(`${HUGE_FOLDER}/free_hugepages`) ?? 0;
  const text = `${total} of 2 MiB, ${free} free`;
  if (total < HUGE_PAGES)
    return error(
      subject,
      `${text}; VPP needs ${HUGE_PAGES}`,
      `echo vm.nr_hugepages=${HUGE_PAGES} > /etc/sysctl.d/80-vpp.conf && sysctl --system; then restart kubelet.`,
    );
  if (free < HUGE_PAGES)
    return warning(
      subject,
      `${text}; VPP needs ${HUGE_PAGES}`,
      'If VPP does not run here yet, another program uses them: raise vm.nr_hugepages.',
    );
  return ok(subject, text);
}

/** The agent looks here for control groups of version 2; the second folder is beside those of version 1. */
const groupFolders = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];
const BPF_FOLDER = '/sys/fs/bpf';
const WITHOUT_SOCKETS = 'services at sockets need it; VPP carries the services without it.';

/** @returns paths. Lines are `36 35 98:0 / /path options … - type source options`. */
function mounts(files: HostFiles, type: string): string[] {
  const lines = (files.text('/proc/self/mountinfo') ?? '').split('\n');
  return lines.flatMap((line) => {
    const [own = '', rest = ''] = line.split(' - ');
    return rest.startsWith(`${type} `) ? (own.split(' ')[4] ?? []) : [];
  });
}

function controlGroups(files: HostFiles): Finding {
  const subject = 'cgroup v2';
  const found = mounts(files, 'cgroup2');
  const used = groupFolders.find((folder) => found.includes(folder));
  if (used !== undefined) return ok(subject, `mounted at ${used}`);
  return warning(
    subject,
    `not mounted at ${groupFolders.join(' or ')}`,
    `Start the kernel with systemd.unified_cgroup_hierarchy=1: ${WITHOUT_SOCKETS}`,
  );
}

function bpfFileSystem(files: HostFiles): Finding {
  const subject = 'bpf file system';
  if (mounts(files, 'bpf').includes(BPF_FOLDER)) return ok(subject, `mounted at ${BPF_FOLDER}`);
  return warning(
    subject,
    `not mounted at ${BPF_FOLDER}`,
    `mount -t bpf bpf ${BPF_FOLDER}: ${WITHOUT_SOCKETS}`,
  );
}

const capabilities = [
  { name: 'CAP_NET_ADMIN', bit: 12n },
  { name: 'CAP_SYS_ADMIN', bit: 21n },
] as const;

function rights(files: HostFiles): Finding {
  const subject = 'rights';
  const status = files.text('/proc/self/status') ?? '';
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  const missing = capabilities.filter(({ bit }) => ((effective >> bit) & 1n) === 0n);
  if (missing.length === 0) return ok(subject, capabilities.map(({ name }) => name).join(' and '));
  return warning(
    subject,
    `this user lacks ${missing.map(({ name }) => name).join(' and ')}`,
    'The agent needs them (a privileged pod): run the check as root to see whether the machine gives them.',
  );
}

interface Device {
  readonly path: string;
  /** In `/proc/misc`. */
  readonly misc: string;
  readonly module: string;
}

const devices: readonly Device[] = [
  { path: '/dev/net/tun', misc: 'tun', module: 'tun' },
  { path: '/dev/vhost-net', misc: 'vhost-net', module: 'vhost_net' },
];

function deviceFinding(files: HostFiles, { path, misc, module }: Device): Finding {
  if (files.has(path)) return ok(path, 'exists');
  const known = (files.text('/proc/misc') ?? '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/)[1]);
  if (known.includes(misc)) return ok(path, 'the kernel has it');
  const kernel = files.text('/proc/sys/kernel/osrelease')?.trim() ?? '';
  const isModule = ['modules.dep', 'modules.builtin'].some((list) =>
    new RegExp(`/${module}\\.ko`, 'm').test(files.text(`/lib/modules/${kernel}/${list}`) ?? ''),
  );
  if (isModule)
    return warning(
      path,
      `its module is not loaded`,
      `modprobe ${module}; the agent loads it, too.`,
    );
  return error(
    path,
    'does not exist, and the kernel has no module for it',
    `Use a kernel with ${module}, or set useTAPInterfaces: false.`,
  );
}
