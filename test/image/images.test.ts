/**
 * The images of the Dockerfile, built and started without a container engine: each step in a chroot, on
 * root file systems of debootstrap. In place of FD.io's packages there is the VPP of this machine in
 * packages of the same names.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hasCipher } from '#vpp/wireguard/cipher.ts';
import { Background } from '../integration/support/background.ts';
import { Netns } from '../integration/support/netns.ts';
import { withoutNodes } from '../support/requirements.ts';
import { until } from '../support/wait.ts';
import { baseImage, withoutBases } from './support/bases.ts';
import { Container } from './support/container.ts';
import { writeFdioRepository } from './support/fdio-repository.ts';
import { type Image, ImageBuild } from './support/image-build.ts';
import { Overlays } from './support/overlay.ts';

const COMMIT = '0123456789abcdef';
const READY_LIMIT_MS = 120_000;
const ETCD = 'http://127.0.0.1:2379';

/** VPP without devices and huge pages, where the deployment has its sockets. */
const STARTUP = `unix { nodaemon nosyslog cli-listen /run/vpp/cli.sock poll-sleep-usec 100 }
socksvr { socket-name /run/vpp/api.sock }
statseg { socket-name /run/vpp/stats.sock }
api-segment { prefix image-test }
memory { main-heap-size 256M main-heap-page-size 4k }
buffers { buffers-per-numa 16384 page-size 4k }
`;

describe('the images', { skip: withoutBases() || withoutNodes() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'images-'));
  const overlays = new Overlays(folder);
  const log = join(folder, 'build.log');
  let vswitch: Image;
  let vpp: Image;
  let netns: Netns;

  /** A folder of the host, by its path in the containers. */
  const volume = (path: string): string => {
    const host = join(folder, 'volumes', path);
    mkdirSync(host, { recursive: true });
    return host;
  };
  const volumes = (...paths: string[]): Record<string, string> =>
    Object.fromEntries(paths.map((path) => [path, volume(path)]));

  before(async () => {
    mkdirSync(join(folder, 'fdio'));
    writeFdioRepository(join(folder, 'fdio'));
    const build = new ImageBuild({
      context: resolve(import.meta.dirname, '../..'),
      args: { COMMIT_HASH: COMMIT, BUILD_DATE: '2026-01-01T00:00:00Z' },
      mirror: {
        address: 'https://packagecloud.io/fdio/release',
        folder: join(folder, 'fdio'),
      },
      kept: ['packages'],
      baseImage: (image) => baseImage(image, overlays),
      overlays,
      log,
    });
    vswitch = await build.image('vswitch');
    vpp = await build.image('vpp');
    netns = await Netns.create('image');
  });
  after(async () => {
    await netns?.remove();
    overlays.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are small, and share the layers of Node.js', (t) => {
    for (const [name, { layers }] of Object.entries({ vswitch, vpp })) {
      const sizes = layers.map((layer) => `${megabytes(layer)}, ${compressed(layer)} compressed`);
      t.diagnostic(`${name}, layers from above, the last is the base: ${sizes.join('; ')}`);
    }
    assert.deepEqual(vswitch.layers.slice(-2), vpp.layers.slice(-2));
    assert.ok(Number.parseInt(megabytes(vswitch.layers[0]!), 10) < 40);
  });

  it('have labels, and the programs that they start', () => {
    for (const image of [vswitch, vpp]) {
      assert.equal(image.labels['org.opencontainers.image.revision'], COMMIT);
      // a link, to a path in the image
      assert.ok(lstatSync(join(image.root, image.entrypoint[0]!)).isSymbolicLink());
    }
    assert.equal(
      vpp.labels['org.opencontainers.image.description'],
      'VPP 26.06-release and contiv-init',
    );
  });

  it('start each program with a read-only root, and as any user', async () => {
    const container = await Container.create('help', { image: vswitch, volumes: {}, overlays });
    for (const name of ['contiv-agent', 'contiv-ksr', 'contiv-stn', 'contiv-netctl', 'netctl']) {
      const start = performance.now();
      const [program, ...args] = container.argv([
        'setpriv',
        '--reuid=65532',
        '--regid=65532',
        '--clear-groups',
        name,
        '--help',
      ]);
      const { stdout, stderr, status } = spawnSync(program!, args, { encoding: 'utf8' });
      assert.deepEqual([stderr, status], ['', 0], name);
      assert.match(stdout, /^Usage: /, name);
      assert.ok(performance.now() - start < 30_000);
    }
  });

  it('limit the heap of Node.js to half of the memory of the container', async () => {
    const container = await Container.create('heap', { image: vswitch, volumes: {}, overlays });
    const limit = 'v8.getHeapStatistics().heap_size_limit / 2 ** 20';
    for (const mebibytes of [128, 512, 1024]) {
      const cgroup = `/sys/fs/cgroup/memory/images-${process.pid}`;
      mkdirSync(cgroup);
      try {
        writeFileSync(join(cgroup, 'memory.limit_in_bytes'), String(mebibytes * 2 ** 20));
        const argv = container.argv(['node', '--max-semi-space-size=8', '-p', limit]);
        const enter = ['sh', '-c', `echo $$ >${cgroup}/cgroup.procs && exec "$@"`, 'sh'];
        const [program, ...args] = [...enter, ...argv];
        const heap = Number(execFileSync(program!, args, { encoding: 'utf8' }));
        // the young generation, of three spaces, is not part of the half
        assert.ok(heap >= mebibytes / 2 && heap <= mebibytes / 2 + 24, `${heap} of ${mebibytes}`);
      } finally {
        await until(
          'the cgroup is empty',
          () => readFileSync(join(cgroup, 'cgroup.procs'), 'utf8') === '',
          5_000,
        );
        rmdirSync(cgroup);
      }
    }
  });

  it('have contiv-cni, which runs on the host', () => {
    const cni = join(folder, 'contiv-cni');
    execFileSync('cp', [join(vswitch.root, vswitch.workdir, 'contiv-cni'), cni]);
    const { stdout } = spawnSync(cni, {
      env: { CNI_COMMAND: 'VERSION' },
      input: '{"cniVersion":"1.0.0"}',
      encoding: 'utf8',
    });
    assert.ok(JSON.parse(stdout).supportedVersions.includes('1.0.0'));
  });

  it('run the agent with simulated VPP and Linux', async () => {
    const container = await Container.create('embedded', {
      image: vswitch,
      volumes: volumes('/tmp'),
      overlays,
    });
    const agent = container.start(join(folder, 'embedded.log'), netns.enter, [
      ...vswitch.entrypoint,
      '--embedded',
    ]);
    try {
      await ready(agent, netns);
    } finally {
      await agent.end('SIGTERM');
    }
  });

  it('run VPP by contiv-init, and the agent that configures it', async () => {
    // The namespace stands for the network of the host.
    const etcd = new Background(
      [
        ...[...netns.enter, 'etcd', `--data-dir=${join(folder, 'etcd')}`],
        `--listen-client-urls=${ETCD}`,
        `--advertise-client-urls=${ETCD}`,
      ],
      { log: join(folder, 'etcd.log') },
    );
    const processes: Background[] = [etcd];
    try {
      const shared = volumes('/run/vpp', '/run/contiv', '/var/bolt', '/run/netns', '/tmp');
      writeFileSync(join(volume('/etc/vpp'), 'contiv-vswitch.conf'), STARTUP);
      const files = {
        contiv: { useTAPInterfaces: false },
        etcd: { endpoints: [new URL(ETCD).host], 'insecure-transport': true },
      };
      for (const [name, content] of Object.entries(files))
        writeFileSync(join(volume('/etc/contiv'), `${name}.conf`), JSON.stringify(content));
      const settings = volumes('/etc/contiv', '/etc/vpp');
      const env = { CONFIG_DIR: '/etc/contiv', MICROSERVICE_LABEL: 'image-test' };
      const container = (name: string, image: Image): Promise<Container> =>
        Container.create(name, { image, volumes: { ...shared, ...settings }, overlays });
      const init = await container('contiv-vpp', vpp);
      const agent = await container('contiv-agent', vswitch);
      const start = (of: Container, name: string): Background => {
        const process = of.start(join(folder, `${name}.log`), netns.enter, undefined, env);
        processes.push(process);
        return process;
      };
      const runningVpp = start(init, 'vpp');
      const runningAgent = start(agent, 'agent');
      await ready(runningAgent, netns);
      const show = (...words: string[]): string => {
        const [program, ...args] = init.argv(['vppctl', 'show', ...words]);
        return spawnSync(program!, args, { encoding: 'utf8' }).stdout;
      };
      assert.match(show('interface', 'address'), /\d+\.\d+\.\d+\.\d+\/\d+/);
      // without an engine WireGuard makes no session
      const handlers = show('crypto', 'handlers');
      assert.match(handlers, /chacha20-poly1305/);
      assert.ok(hasCipher(handlers), handlers);
      await runningAgent.end('SIGTERM');
      runningVpp.assertRunning();
      await runningVpp.end('SIGTERM');
    } finally {
      for (const process of processes.toReversed()) await process.end('SIGKILL');
    }
  });
});

/** Resolves when the agent reports that it is ready. @throws with the end of its log */
async function ready(agent: Background, netns: Netns): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    agent.assertRunning();
    const status = await netns
      .run('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://127.0.0.1:9999/readiness')
      .catch(() => '');
    return status.trim() === '200';
  };
  try {
    await until('the agent is ready', isReady, READY_LIMIT_MS);
  } catch (cause) {
    throw new Error(`the agent is not ready:\n${agent.tail()}`, { cause });
  }
}

const bytes = (command: string, layer: string): number =>
  Number(execFileSync('sh', ['-c', command, 'sh', layer], { encoding: 'utf8' }));

const inMegabytes = (count: number): string => `${(count / 1e6).toFixed(1)} MB`;

const megabytes = (layer: string): string => inMegabytes(bytes('tar -cC "$1" . | wc -c', layer));

const compressed = (layer: string): string =>
  inMegabytes(bytes('tar -cC "$1" . | gzip -6 | wc -c', layer));
