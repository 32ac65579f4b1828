/** `netctl check` against folders that stand for machines. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { HostFiles } from '#netctl/check/host-files.ts';
import { kernelFindings } from '#netctl/check/kernel.ts';
import { networkFindings } from '#netctl/check/network.ts';
import { NetctlProgram } from '../support/program.ts';

const HUGE = '/sys/kernel/mm/hugepages/hugepages-2048kB';
const TCP = '  sl  local_address rem_address   st\n';

/** A machine that has all of it. */
const machine: Readonly<Record<string, string>> = {
  '/proc/sys/kernel/osrelease': '6.12.48\n',
  [`${HUGE}/nr_hugepages`]: '512\n',
  [`${HUGE}/free_hugepages`]: '512\n',
  '/proc/self/mountinfo': [
    '25 20 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw',
    '26 20 0:23 / /sys/fs/bpf rw shared:7 - bpf bpf rw',
  ].join('\n'),
  '/proc/self/status': 'CapEff:\t000001ffffffffff\n',
  '/dev/net/tun': '',
  '/dev/vhost-net': '',
  '/sys/class/net/lo/mtu': '65536\n',
  '/sys/class/net/eth0/mtu': '1500\n',
  '/sys/class/net/eth0/device/vendor': '',
  '/sys/class/net/veth1/mtu': '1400\n',
  '/opt/cni/bin/loopback': '',
  '/opt/cni/bin/portmap': '',
  '/etc/cni/net.d/.keep': '',
  '/proc/net/tcp': `${TCP}   0: 00000000:07E8 00000000:0000 0A\n`,
};

describe('netctl check', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'netctl-check-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** @param changes files that differ; undefined: missing */
  function findings(changes: Readonly<Record<string, string | undefined>> = {}) {
    for (const [path, text] of Object.entries({ ...machine, ...changes })) {
      if (text === undefined) continue;
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const files = new HostFiles(root);
    return [...kernelFindings(files), ...networkFindings(files)];
  }

  /** The findings that are not ok, as `subject result: text`. */
  function problems(changes: Readonly<Record<string, string | undefined>>): string[] {
    const wrong = findings(changes).filter(({ result }) => result !== 'ok');
    for (const { subject, remedy } of wrong) assert.notEqual(remedy, '', subject);
    return wrong.map(({ subject, result, text }) => `${subject} ${result}: ${text}`);
  }

  it('finds nothing on a machine that has all of it', () => {
    assert.deepEqual(problems({}), []);
    const mtu = findings().find(({ subject }) => subject === 'MTU of links');
    assert.equal(mtu!.text, 'eth0 1500; pods get 1450 with VXLAN');
  });

  const cases: readonly (readonly [
    string,
    Readonly<Record<string, string | undefined>>,
    string[],
  ])[] = [
    [
      'an old kernel',
      { '/proc/sys/kernel/osrelease': '4.18.0-553.el8\n' },
      ['kernel warning: Linux 4.18.0-553.el8: Contiv was not tried with it'],
    ],
    [
      'a kernel without programs at links',
      { '/proc/sys/kernel/osrelease': '5.15.0\n' },
      ['kernel warning: Linux 5.15.0: no programs at links'],
    ],
    [
      'no huge pages',
      { [`${HUGE}/nr_hugepages`]: '0\n', [`${HUGE}/free_hugepages`]: '0\n' },
      ['huge pages error: 0 of 2 MiB, 0 free; VPP needs 256'],
    ],
    [
      'huge pages in use',
      { [`${HUGE}/free_hugepages`]: '10\n' },
      ['huge pages warning: 512 of 2 MiB, 10 free; VPP needs 256'],
    ],
    [
      'file systems that are mounted elsewhere',
      { '/proc/self/mountinfo': '26 20 0:23 / /tmp/bpf rw - bpf bpf rw' },
      [
        'cgroup v2 warning: not mounted at /sys/fs/cgroup or /sys/fs/cgroup/unified',
        'bpf file system warning: not mounted at /sys/fs/bpf',
      ],
    ],
    [
      'a user without rights',
      { '/proc/self/status': 'CapEff:\t0000000000000000\n' },
      ['rights warning: this user lacks CAP_NET_ADMIN and CAP_SYS_ADMIN'],
    ],
    [
      'a device whose module can be loaded',
      {
        '/dev/vhost-net': undefined,
        '/lib/modules/6.12.48/modules.dep': 'kernel/drivers/vhost/vhost_net.ko.xz: a\n',
      },
      ['/dev/vhost-net warning: its module is not loaded'],
    ],
    [
      'a device that the kernel cannot have',
      { '/dev/vhost-net': undefined },
      ['/dev/vhost-net error: does not exist, and the kernel has no module for it'],
    ],
    [
      'links with different MTUs',
      { '/sys/class/net/eth1/mtu': '9000\n', '/sys/class/net/eth1/device/vendor': '' },
      ['MTU of links warning: eth0 1500, eth1 9000'],
    ],
    [
      'a missing program of CNI',
      { '/opt/cni/bin/portmap': undefined },
      ['CNI programs error: /opt/cni/bin lacks portmap'],
    ],
    [
      'another network plugin that comes first',
      { '/etc/cni/net.d/05-cilium.conflist': '', '/etc/cni/net.d/99-loopback.conf': '' },
      [
        'CNI configuration error: 05-cilium.conflist in /etc/cni/net.d comes before 10-contiv-vpp.conflist',
      ],
    ],
    [
      'the folders of k3s',
      { '/var/lib/rancher/k3s/data/cni/loopback': '' },
      [
        'CNI programs error: /var/lib/rancher/k3s/data/cni lacks portmap',
        'CNI configuration warning: no folder /var/lib/rancher/k3s/agent/etc/cni/net.d',
      ],
    ],
    [
      'ports in use',
      {
        '/proc/net/tcp6': `${TCP}   0: ${'0'.repeat(32)}:270F ${'0'.repeat(32)}:0000 0A\n`,
        '/proc/net/udp': `${TCP}   0: 00000000:12B5 00000000:0000 07\n`,
      },
      ['ports warning: in use: TCP 9999 (the agent), UDP 4789 (VXLAN)'],
    ],
  ];
  for (const [name, changes, expected] of cases)
    it(`finds ${name}`, () => assert.deepEqual(problems(changes), expected));

  it('takes its own agent for none of the problems', () => {
    const own = { '/var/run/contiv/agent.sock': '', '/proc/net/tcp': `${TCP} 0: 0:270F 0:0 0A\n` };
    assert.deepEqual(problems(own), []);
  });

  it('says so by its exit code, and asks an etcd that is named', async () => {
    using program = new NetctlProgram({ ETCD_ENDPOINTS: '127.0.0.1:1' });
    const { code, stdout } = await program.run('check', '-o', 'json');
    assert.equal(code, 3);
    const { errors, checks } = JSON.parse(stdout) as {
      errors: number;
      checks: { subject: string; result: string; text: string }[];
    };
    assert.equal(errors, checks.filter(({ result }) => result === 'error').length);
    const etcd = checks.find(({ subject }) => subject === 'etcd');
    assert.equal(etcd!.result, 'error');
    assert.match(etcd!.text, /ECONNREFUSED/);
  });
});
