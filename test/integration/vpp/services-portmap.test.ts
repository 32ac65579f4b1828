/** Host ports for what the kernel of the host receives: the plugin portmap of the installed conflist translates it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertBackends, assertClient } from '#test/services/compliance/answers.ts';
import { a, b, both, host1, host2, x } from '#test/services/compliance/records.ts';
import type { Place } from '#test/services/service-cluster.ts';
import {
  withoutGo,
  withoutNodes,
  withoutProgram,
  withoutVhostNet,
} from '#test/support/requirements.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const CONFLIST = new URL(
  '../../../deploy/helm/contiv-vswitch/files/10-contiv-vpp.conflist',
  import.meta.url,
);
/** portmap of Debian 13, 1.1.1, does not know `masqAll`. */
const PORTMAP = 'github.com/containernetworking/plugins/plugins/meta/portmap';
const PORT = 8000;

const skip = withoutNodes() || withoutVhostNet() || withoutGo() || withoutProgram('iptables');

/** Adds the host port of a pod in the namespace of its host, as the runtime does after contiv-cni. */
function addPortMapping(cluster: RealServiceCluster, program: string, pod: string): void {
  const { cniVersion, name, plugins } = JSON.parse(readFileSync(CONFLIST, 'utf8'));
  const portmap = plugins.find(({ type }: { type: string }) => type === 'portmap');
  const { path, containerId, address } = cluster.sandboxOf(pod);
  const config = {
    cniVersion,
    name,
    ...portmap,
    runtimeConfig: {
      portMappings: both.map((protocol) => ({
        hostPort: PORT,
        containerPort: 8080,
        protocol: protocol.toLowerCase(),
      })),
    },
    prevResult: {
      cniVersion,
      interfaces: [{ name: 'eth0', sandbox: path }],
      ips: [{ version: '4', address: `${address}/32`, interface: 0 }],
    },
  };
  const [enter = '', ...args] = [...cluster.realNode('node1').netns.enter, program];
  execFileSync(enter, args, {
    input: JSON.stringify(config),
    env: {
      ...process.env,
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: containerId,
      CNI_NETNS: path,
      CNI_IFNAME: 'eth0',
      CNI_PATH: dirname(program),
    },
  });
}

describe('host ports with portmap', { skip, timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'portmap-'));
  let cluster: RealServiceCluster;
  const connect = (from: Place, address: string, count = 3) =>
    Promise.all(
      both.map((protocol) => cluster.connect(from, { address, port: PORT, protocol }, count)),
    ).then((answers) => answers.flat());

  before(async () => {
    cluster = await RealServiceCluster.start();
    const port = both.map((protocol) => ({ container_port: 8080, host_port: PORT, protocol }));
    await cluster.startPod('a', 'node1', [8080], { container: [{ name: 'main', port }] });
    await cluster.startPod('b', 'node1', []);
    await cluster.startPod('x', 'node2', []);
    const program = join(folder, 'portmap');
    execFileSync('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', program, PORTMAP], {
      cwd: new URL('portmap', import.meta.url),
    });
    addPortMapping(cluster, program, 'a');
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it('answer to the host itself, at 127.0.0.1 and at its own address', async () => {
    for (const address of ['127.0.0.1', cluster.addressOf(host1)])
      assertBackends(await connect(host1, address), ['a'], address);
  });

  it('answer to other machines at the address of the host', async () => {
    assertBackends(await connect(host2, cluster.addressOf(host1)), ['a']);
  });

  it('answer to pods and to clients of VPP, which keep their address', async () => {
    const vpp = cluster.vppAddressOf('node1');
    for (const [from, address] of [
      [a, vpp],
      [b, vpp],
      [x, vpp],
      ['outside', vpp],
      [a, cluster.addressOf(host1)],
      [b, cluster.addressOf(host1)],
      [x, cluster.addressOf(host1)],
    ] as const)
      assertBackends(await connect(from, address), ['a'], `${JSON.stringify(from)} ${address}`);
    assertClient(await connect('outside', vpp), cluster.addressOf('outside'));
  });
});
