/**
 * contiv-stn as a process that is killed at any moment of a steal or a release, and started again. The NIC is a veth
 * of a network namespace; its drivers are files, which the process finds in place of /sys.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#infra/clock/system.ts';
import { type StnDaemon, stnDaemonClient } from '#stn/daemon-client.ts';
import { StnRefusedError } from '#stn/errors.ts';
import { FakeSysfs } from '#test/stn/daemon/fake-sysfs.ts';
import { programFile } from '#test/support/program-command.ts';
import { withoutKernel, withoutMount } from '#test/support/requirements.ts';
import { isListening, until } from '#test/support/wait.ts';
import { Background } from '../support/background.ts';
import { Netns } from '../support/netns.ts';

const MAIN = programFile('stn');
const NIC = 'eth0';
/** Kills at these parts of the time that the request takes on this machine. */
const PARTS = [0.2, 0.5, 0.8, 1.1];

class Host {
  readonly #netns: Netns;
  /** Namespace of the other end, which is up. */
  readonly #wire: Netns;
  readonly #sysfs: FakeSysfs;
  readonly #folder = mkdtempSync(join(tmpdir(), 'stn-killed-'));
  readonly client: StnDaemon;
  #daemon: Background | undefined;

  static async create(): Promise<Host> {
    return new Host(await Netns.create('stn'), await Netns.create('wire'));
  }

  private constructor(netns: Netns, wire: Netns) {
    this.#netns = netns;
    this.#wire = wire;
    this.client = stnDaemonClient(this.#socket, systemClock);
    const device = { address: '0000:0b:00.0', driver: 'e1000e', link: NIC };
    this.#sysfs = new FakeSysfs({
      appear: () => {
        const peer = ['type', 'veth', 'peer', 'name', 'wire', 'netns', wire.name];
        this.ip('link', 'add', NIC, ...peer);
        execFileSync('ip', ['-n', wire.name, 'link', 'set', 'wire', 'up']);
      },
      vanish: () => void this.ip('link', 'del', NIC),
    });
    for (const driver of ['e1000e', 'vfio-pci']) this.#sysfs.load(driver);
    this.#sysfs.add(device);
    this.#sysfs.start();
    this.ip('link', 'set', NIC, 'address', '02:00:00:00:00:77', 'mtu', '1400', 'up');
    this.ip('addr', 'add', '10.0.0.5/24', 'dev', NIC);
    this.ip('route', 'add', 'default', 'via', '10.0.0.1', 'dev', NIC, 'metric', '100');
  }

  get #socket(): string {
    return join(this.#folder, 'stn.sock');
  }

  ip(...args: readonly string[]): string {
    return execFileSync('ip', ['-n', this.#netns.name, ...args], { encoding: 'utf8' });
  }

  /** Without index and link-local address, which are new with the link. */
  get state(): string {
    return [this.ip('-4', 'addr', 'show', 'dev', NIC), this.ip('-4', 'route')]
      .join('')
      .replace(/^\d+: eth0@\S+/m, NIC);
  }

  get hasNic(): boolean {
    return this.ip('-brief', 'link').includes(NIC);
  }

  get records(): readonly string[] {
    return readdirSync(join(this.#folder, 'state')).filter((name) => name.endsWith('.json'));
  }

  async start(): Promise<void> {
    const inFakeSys = `mount --rbind ${this.#sysfs.root} /sys && exec "$@"`;
    const command = [process.execPath, MAIN, '--grpc', this.#socket];
    this.#daemon = new Background(
      [
        ...this.#netns.enter,
        ...['unshare', '--mount', 'sh', '-c', inFakeSys, 'sh'],
        ...command,
        ...['--state-dir', join(this.#folder, 'state')],
      ],
      { log: join(this.#folder, 'log') },
    );
    const isServing = () => {
      this.#daemon!.assertRunning();
      return isListening(this.#socket);
    };
    await until('contiv-stn listens', isServing, 60_000);
  }

  async kill(): Promise<void> {
    await this.#daemon?.end('SIGKILL');
  }

  tail(): string {
    return this.#daemon?.tail() ?? '';
  }

  async remove(): Promise<void> {
    await this.kill();
    this.#sysfs.close();
    await this.#netns.remove();
    await this.#wire.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

describe('contiv-stn that is killed', { skip: withoutKernel() || withoutMount() }, () => {
  let host: Host;
  let expected: string;
  before(async () => {
    host = await Host.create();
    expected = host.state;
    await host.start();
  });
  after(() => host?.remove());

  /** The time of a request that nothing interrupts. */
  async function timeOf(request: () => Promise<unknown>): Promise<number> {
    const started = performance.now();
    await request();
    return performance.now() - started;
  }

  async function killedAfter(ms: number, request: () => Promise<unknown>): Promise<void> {
    const answered = request().catch(() => undefined);
    await sleep(ms);
    await host.kill();
    await answered;
    await host.start();
  }

  /** As contiv-init does at its next start. */
  async function isStolen(): Promise<void> {
    const { addresses } = await host.client.steal(NIC, false);
    assert.ok(addresses.includes('10.0.0.5/24'), host.tail());
    assert.equal(host.hasNic, false);
    assert.equal(host.records.length, 1);
  }

  async function release(): Promise<void> {
    await host.client.release(NIC, false).catch((thrown: unknown) => {
      // The daemon has continued with it.
      if (!(thrown instanceof StnRefusedError)) throw thrown;
    });
  }

  async function isGivenBack(): Promise<void> {
    await until('the host has its NIC as it was', () => host.hasNic && host.state === expected);
    await until('no record is left', () => host.records.length === 0);
    assert.equal(host.state, expected);
  }

  it('takes the NIC, or gives it back as it was', { timeout: 240_000 }, async () => {
    const stealMs = await timeOf(isStolen);
    const releaseMs = await timeOf(release);
    await isGivenBack();
    for (const part of PARTS) {
      await killedAfter(part * stealMs, () => host.client.steal(NIC, false));
      await isStolen();
      await killedAfter(part * releaseMs, () => host.client.release(NIC, false));
      await release();
      await isGivenBack();
    }
  });
});
