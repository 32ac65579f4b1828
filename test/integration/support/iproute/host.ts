/**
 * A LinuxHost on the kernel of this machine, through one run of `ip`, `ethtool` or `sh` for each call: the
 * reference that the agent's own netlink messages are compared with.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LinkLocation, LinuxHost, LinuxRoute, NamespacePath } from '#linux/api.ts';
import { AGENT_ROUTE_PROTOCOL, LinuxError } from '#linux/api.ts';
import { isV6 } from '#linux/netlink/addresses.ts';
import { parseDump } from './dump.ts';
import { errnoOf } from './errno.ts';

const run = promisify(execFile);

async function runIn(namespace: NamespacePath, ...command: readonly string[]): Promise<string> {
  try {
    const options = { env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 26 };
    const { stdout } = await run('nsenter', [`--net=${namespace}`, ...command], options);
    return stdout;
  } catch (thrown) {
    const { stderr } = thrown as { stderr: string };
    throw new LinuxError(stderr.trim(), { errno: errnoOf(stderr) });
  }
}

async function change(namespace: NamespacePath, ...command: readonly string[]): Promise<void> {
  await runIn(namespace, ...command);
}

const route = (verb: string) => (namespace: NamespacePath, to: Omit<LinuxRoute, 'protocol'>) =>
  change(
    namespace,
    ...['ip', 'route', verb, to.destination],
    ...(to.gateway === undefined ? [] : ['via', to.gateway]),
    ...['dev', to.device],
    ...(isV6(to.destination) ? [] : ['scope', to.scope]),
    ...(to.metric === 0 ? [] : ['metric', String(to.metric)]),
    ...['proto', String(AGENT_ROUTE_PROTOCOL)],
  );

/** All steps are executed; the first failure counts. */
async function rename({ namespace, name }: LinkLocation, to: string): Promise<void> {
  const steps = [
    ['link', 'set', 'dev', name, 'down'],
    ['addr', 'flush', 'dev', name],
    ['link', 'set', 'dev', name, 'name', to],
  ];
  const failures: unknown[] = [];
  for (const step of steps)
    await change(namespace, 'ip', ...step).catch((thrown) => failures.push(thrown));
  if (failures.length > 0) throw failures[0];
}

/** The kernel moves a link before it renames it: one whose new name is taken is moved back. */
async function move({ namespace, name }: LinkLocation, to: LinkLocation): Promise<void> {
  const target = ['netns', to.namespace!, 'name', to.name];
  try {
    await change(namespace, 'ip', 'link', 'set', 'dev', name, ...target);
  } catch (thrown) {
    if (thrown instanceof LinuxError && thrown.errno === 'EEXIST')
      await change(namespace, 'ip', 'link', 'show', 'dev', name).catch(() =>
        change(to.namespace, 'ip', 'link', 'set', 'dev', name, 'netns', namespace!),
      );
    throw thrown;
  }
}

export const iprouteHost: Omit<
  LinuxHost,
  | 'namespaceIdentity'
  | 'namespaces'
  | 'bootId'
  | 'beginDeleteTap'
  | 'findLinks'
  | 'connections'
  | 'reportLinks'
> = {
  createVeth: (a, b) =>
    change(
      a.namespace,
      ...['ip', 'link', 'add', 'name', a.name, 'type', 'veth', 'peer', 'name', b.name],
      ...(a.namespace === b.namespace ? [] : ['netns', b.namespace!]),
    ),
  deleteLink: (namespace, name) => change(namespace, 'ip', 'link', 'del', 'dev', name),
  moveLink: (from, to) =>
    from.namespace === to.namespace ? rename(from, to.name) : move(from, to),
  setLink: (namespace, name, { mtu, mac, alias, up }) =>
    change(
      namespace,
      ...['ip', 'link', 'set', 'dev', name],
      ...(mtu === undefined ? [] : ['mtu', String(mtu)]),
      ...(mac === undefined ? [] : ['address', mac]),
      ...(alias === undefined ? [] : ['alias', alias]),
      ...(up === undefined ? [] : [up ? 'up' : 'down']),
    ),
  addAddress: (namespace, name, cidr) =>
    change(namespace, 'ip', 'addr', 'add', cidr, 'dev', name, ...(isV6(cidr) ? ['nodad'] : [])),
  deleteAddress: (namespace, name, cidr) =>
    change(namespace, 'ip', 'addr', 'del', cidr, 'dev', name),
  addRoute: route('add'),
  replaceRoute: route('replace'),
  deleteRoute: route('del'),
  setNeighbor: (namespace, { address, mac, device }) =>
    change(
      namespace,
      ...['ip', 'neigh', 'replace', address, 'lladdr', mac, 'dev', device, 'nud', 'permanent'],
    ),
  deleteNeighbor: (namespace, device, address) =>
    change(namespace, 'ip', 'neigh', 'del', address, 'dev', device),
  setChecksumOffload: (namespace, name, { rx, tx }) => {
    const words = [
      ...(rx === undefined ? [] : ['rx', rx ? 'on' : 'off']),
      ...(tx === undefined ? [] : ['tx', tx ? 'on' : 'off']),
    ];
    return words.length === 0
      ? Promise.resolve()
      : change(namespace, 'ethtool', '-K', name, ...words);
  },
  setSysctl: (namespace, name, value) =>
    change(namespace, 'sh', '-c', `echo ${value} > /proc/sys/${name.replaceAll('.', '/')}`),
  dump: async (namespace) => {
    const parts = [
      ['addr', 'show'],
      ['route', 'show', 'table', 'all'],
      ['neigh', 'show'],
    ];
    const lines: string[] = [];
    for (const part of parts)
      lines.push((await runIn(namespace, 'ip', '-json', '-N', '-details', ...part)).trim() || '[]');
    return parseDump(lines.join('\n'));
  },
};
