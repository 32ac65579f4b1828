/** Leases and links of a real VPP, from a server behind a link of it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '#infra/clock/system.ts';
import { type DhcpBackend, dhcpSuite } from '#test/descriptors/compliance/dhcp-suite.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { startIsolatedVpp } from '../support/vpp-process.ts';

const SERVER_ADDRESS = '192.168.77.1';
const LEASE_SECONDS = 4;

async function realVpp(): Promise<DhcpBackend> {
  const { client, connect, namespace, stop } = await startIsolatedVpp();
  await client.close();
  const [link, other] = ['host1', 'host2'];
  const enter = `--net=${namespace}`;
  const ip = (...args: string[]) => execFileSync('nsenter', [enter, 'ip', ...args]);
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', other);
  ip('link', 'set', other, 'up');
  ip('address', 'add', `${SERVER_ADDRESS}/24`, 'dev', other);
  ip('route', 'add', '255.255.255.255', 'dev', other);
  // No device behind AF_PACKET completes checksums.
  execFileSync('nsenter', [enter, 'ethtool', '-K', other, 'tx', 'off'], { stdio: 'ignore' });
  const script = new URL('../support/single-lease-dhcp-server.ts', import.meta.url).pathname;
  const server = spawn(
    'nsenter',
    [enter, process.execPath, script, SERVER_ADDRESS, String(LEASE_SECONDS)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  await once(server.stdout, 'data');
  return {
    clock: systemClock,
    connect,
    links: [link],
    offer: (offer) => server.stdin.write(`${JSON.stringify(offer ?? null)}\n`),
    pass: (ms) => systemClock.sleep(ms),
    async stop() {
      const gone = once(server, 'exit');
      server.stdin.end();
      await gone;
      await stop();
    },
  };
}

await declareUnless(withoutIsolatedVpp(), 'leases of a real VPP', () => dhcpSuite(realVpp));
