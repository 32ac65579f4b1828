/** Stealing and releasing NICs of the kernel, in network namespaces of the test. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { setns } from '#linux/kernel/system-calls.ts';
import type { HostNetwork } from '#stn/daemon/host-network.ts';
import { netlinkNetwork } from '#stn/daemon/netlink-network.ts';
import { diskRecordStore } from '#stn/daemon/record-store.ts';
import { StolenNics } from '#stn/daemon/stolen-nics.ts';
import { TestPci } from '#test/stn/daemon/test-pci.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { Netns } from '../support/netns.ts';

const ADDRESS = '0000:0b:00.0';
const PERMANENT_MAC = '02:00:00:00:00:01';

function networkIn(path: string): HostNetwork {
  const [home, there] = [openSync('/proc/self/ns/net', 'r'), openSync(path, 'r')];
  setns(there);
  try {
    return netlinkNetwork();
  } finally {
    setns(home);
    closeSync(home);
    closeSync(there);
  }
}

/** A host with the NIC `eth0`, a veth that its driver makes and removes. */
class Host {
  readonly netns: Netns;
  /** Namespace of the other end, which is up. */
  readonly wire: Netns;
  readonly pci = new TestPci();
  readonly folder = mkdtempSync(join(tmpdir(), 'stn-state-'));
  nics: StolenNics;

  static async create(): Promise<Host> {
    const host = new Host(await Netns.create('stn'), await Netns.create('wire'));
    await host.nics.start();
    return host;
  }

  private constructor(netns: Netns, wire: Netns) {
    this.netns = netns;
    this.wire = wire;
    const appear = () => {
      this.plug();
      return 'eth0';
    };
    this.plug();
    const vanish = () => void this.ip('link', 'del', 'eth0');
    this.pci.add({ address: ADDRESS, link: 'eth0', driver: 'e1000e', appear, vanish });
    this.nics = this.#nics();
  }

  plug(): void {
    this.sh(
      `link add eth0 address ${PERMANENT_MAC} type veth peer name wire netns ${this.wire.name}`,
    );
    execFileSync('ip', ['-n', this.wire.name, 'link', 'set', 'wire', 'mtu', '9000', 'up']);
  }

  #nics(): StolenNics {
    return new StolenNics({
      network: networkIn(this.netns.path),
      pci: this.pci,
      store: diskRecordStore(this.folder, silentLogger),
      bootId: 'boot',
      clock: systemClock,
      log: silentLogger,
    });
  }

  /** As after a kill: only the disk is left. */
  async restart(): Promise<void> {
    this.nics = this.#nics();
    await this.nics.start();
  }

  ip(...args: readonly string[]): string {
    return execFileSync('ip', ['-n', this.netns.name, ...args], { encoding: 'utf8' });
  }

  sh(commands: string): void {
    for (const command of commands.split('\n').map((line) => line.trim()))
      if (command !== '') this.ip(...command.split(/\s+/));
  }

  /** The kernel may refuse the command. */
  attempt(command: string): void {
    spawnSync('ip', ['-n', this.netns.name, ...command.split(' ')]);
  }

  /** All that `ip` shows about the NIC, without times. */
  state(): string {
    return [
      ['-d', 'link', 'show', 'dev', 'eth0'],
      ['-d', 'addr', 'show', 'dev', 'eth0'],
      ['-d', '-4', 'route', 'show', 'table', 'all'],
      ['-d', '-6', 'route', 'show', 'table', 'all'],
    ]
      .map((args) => this.ip(...args).replace(/^\d+: eth0@if\d+/gm, 'eth0'))
      .map((text) => text.split('\n').map(unordered).join('\n'))
      .join('\n');
  }

  async settled(): Promise<string> {
    for (let text = this.state(); ; text = this.state())
      if (!text.includes('tentative')) return text;
      else await systemClock.sleep(100);
  }

  async close(): Promise<void> {
    await this.netns.remove();
    await this.wire.remove();
    rmSync(this.folder, { recursive: true });
  }
}

function unordered(line: string): string {
  return line.replace(/(expires|valid_lft|preferred_lft) \d+sec/g, '$1').trimEnd();
}

describe('a NIC of the kernel', { skip: withoutKernel() }, () => {
  let host: Host;
  beforeEach(async () => {
    host = await Host.create();
  });
  afterEach(() => host.close());

  const cases: Record<string, string> = {
    'up, without addresses': 'link set eth0 up',
    down: 'link set eth0 mtu 1400',
    'with another MAC and MTU': 'link set eth0 address 02:00:00:00:00:77 mtu 9000 up',
    'with a default route': `link set eth0 up
      addr add 10.0.0.5/24 brd 10.0.0.255 dev eth0
      route add default via 10.0.0.1 dev eth0`,
    'with secondary, labeled, point-to-point and flagged addresses': `link set eth0 up
      addr add 10.0.0.5/24 dev eth0
      addr add 10.0.0.6/24 dev eth0
      addr add 10.0.0.7/24 dev eth0 label eth0:7
      addr add 10.9.0.1 peer 10.9.0.2/32 dev eth0
      addr add 10.8.0.1/24 dev eth0 noprefixroute
      addr add 10.7.0.1/24 dev eth0 metric 77
      addr add 10.6.0.1/24 dev eth0 scope link
      addr add 10.5.0.1/24 dev eth0 valid_lft 5000 preferred_lft 4000`,
    'with routes of all kinds': `link set eth0 up
      addr add 10.0.0.5/24 dev eth0
      addr add 10.0.0.9/24 dev eth0
      route add 10.1.0.0/16 via 10.0.0.1 metric 100 src 10.0.0.9
      route add 10.2.0.0/16 via 172.16.0.1 dev eth0 onlink
      route add 10.3.0.1 dev eth0 scope link
      route add 10.4.0.0/16 via 10.3.0.1
      route add 0.0.0.0/1 via 10.3.0.1
      route add default via 10.0.0.1 metric 50 mtu 1300
      route append default via 10.0.0.2 metric 50
      route add default via 10.0.0.1 table 1000
      route add 10.5.0.0/16 tos 0x10 via 10.0.0.1 proto static
      route add 10.6.0.0/16 nexthop via 10.0.0.1 weight 2 nexthop via 10.0.0.2 weight 1`,
    'with IPv6': `link set eth0 up
      addr add fd00::5/64 dev eth0
      addr add fd00::6/128 dev eth0 nodad noprefixroute
      addr add fe80::77/64 dev eth0
      route add default via fe80::1 dev eth0 metric 300
      route add fd01::/64 via fd00::1 metric 200 src fd00::6 mtu 1300
      route add fd02::/64 dev eth0 expires 2000
      route add fd03::/64 nexthop via fd00::1 weight 2 nexthop via fd00::2 weight 1
      route add fd04::/64 via fd00::1 pref high
      route add fd05::/64 from fd00::/64 via fd00::1
      route add 10.77.0.0/16 via inet6 fe80::1 dev eth0`,
  };
  for (const [title, commands] of Object.entries(cases))
    it(`is given back as it was: ${title}`, async () => {
      host.sh(commands);
      const expected = await host.settled();
      await host.nics.steal('eth0', false);
      assert.doesNotMatch(host.ip('link'), /eth0/);
      await host.restart();
      assert.equal((await host.nics.info('')).name, 'eth0');
      await host.nics.release('eth0');
      assert.equal(await host.settled(), expected);
      await host.restart();
      await host.nics.check();
      assert.deepEqual(readdirSync(host.folder), []);
      assert.equal(await host.settled(), expected);
    });

  it('is given back with random addresses and routes as it was', async () => {
    const random = seededRandom(1);
    const below = (count: number): number => Math.floor(random.next() * count);
    for (const family of ['all', 'default'])
      await host.netns.run('sysctl', '-qw', `net.ipv6.conf.${family}.accept_dad=0`);
    for (let round = 0; round < 8; round++) {
      host.attempt('link set eth0 down');
      host.attempt('addr flush dev eth0');
      host.attempt('link set eth0 up');
      for (let count = below(6); count >= 0; count--) host.attempt(randomAddress(below));
      for (let count = below(12); count >= 0; count--) host.attempt(randomRoute(below));
      const expected = await host.settled();
      await host.nics.steal('eth0', false);
      await host.nics.release('eth0');
      assert.equal(await host.settled(), expected, `round ${round}`);
      // The record is removed by the check.
      await host.restart();
      await host.nics.check();
    }
  });
});

type Below = (count: number) => number;

function randomAddress(below: Below): string {
  const more = ['', ' noprefixroute', ' metric 9'][below(3)]!;
  return below(2) === 0
    ? `addr add 10.${below(3)}.0.${1 + below(9)}/${[16, 24, 32][below(3)]} dev eth0${more}`
    : `addr add fd0${below(3)}::${1 + below(9)}/${[64, 128][below(2)]} dev eth0${more}`;
}

/** The host rejects many of them. */
function randomRoute(below: Below): string {
  const metric = below(2) === 0 ? '' : ` metric ${1 + below(3)}`;
  const table = below(4) === 0 ? ' table 100' : '';
  if (below(2) === 0) {
    const to = ['default', `10.${below(6)}.0.0/16`, `10.3.0.${below(4)}`][below(3)]!;
    const via = ['', ` via 10.${below(4)}.0.${1 + below(9)}`][below(2)]!;
    const source = below(3) === 0 ? ` src 10.${below(3)}.0.${1 + below(9)}` : '';
    const onlink = via !== '' && below(3) === 0 ? ' onlink' : '';
    return `route append ${to}${via} dev eth0${source}${metric}${table}${onlink}`;
  }
  const to = ['default', `fd0${below(6)}::/64`, `fd03::${below(4)}`][below(3)]!;
  const via = ['', ` via fd0${below(4)}::${1 + below(9)}`, ' via fe80::9'][below(3)]!;
  return `-6 route add ${to}${via} dev eth0${metric}${table}`;
}
