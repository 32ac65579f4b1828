/** An agent in the network namespace of a host: it leads a node port to VPP, and ends. */
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { openSocketTable } from '#linux/socket-services/open.ts';

export interface LedNodePort {
  /** Folder in the place of /sys/fs. */
  readonly sysFs: string;
  readonly port: number;
  readonly addresses: readonly string[];
  /** Names of links of the host. */
  readonly links: readonly string[];
  readonly vppLink: string;
  readonly gateway: string;
}

const led = JSON.parse(process.argv[2] ?? '') as LedNodePort;
const { vppLink, gateway } = led;
const host = kernelHost({ clock: systemClock });
const sockets = { ...host, namespaces: async () => [] };
const deps = {
  clock: systemClock,
  random: systemRandom,
  sockets,
  hostNamespace: undefined,
  log: silentLogger,
};
const table = openSocketTable(led.sysFs, deps);
const found = await host.findLinks(undefined, [...led.links, vppLink]);
const indexOf = (name: string): number => found.find((one) => one.name === name)!.index;

for (const address of led.addresses) await table.putNodeAddress({ address, isLocal: true });
const { port } = led;
await table.put({
  name: 'default/web',
  mappings: (['TCP', 'UDP'] as const).map((protocol) => ({
    frontends: [{ scope: 'THIS_NODE', address: '0.0.0.0', port, protocol }],
    backends: [{ address: '10.1.1.2', port: 8080, weight: 1 }],
    affinityTimeout: 0,
    hostSource: '',
  })),
});
await table.putLink({ index: indexOf(vppLink), toVpp: undefined });
for (const name of led.links)
  await table.putLink({ index: indexOf(name), toVpp: { index: indexOf(vppLink), gateway } });
await table.resynced();
process.exit();
