/**
 * Bulk TCP over every path of a packet, for every way in which pods and hosts can be linked to VPP. Pings
 * and the first packets of a connection pass where large packets are lost.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selectCases } from '#test/support/part-of-cases.ts';
import { runsAllCases, withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { RealCluster } from '../support/cluster.ts';
import { type Endpoint, transfer } from '../support/traffic.ts';

const MEGABYTES = 2;
/** A path that loses large packets stops permanently; a good one needs seconds. */
const LIMIT_MS = 40_000;

/** Of the 7,000 full packets of a pod's transfers: wrong checksums repeat a quarter of them. */
const MOST_RETRANSMISSIONS = 500;

async function carries(path: string, from: Endpoint, to: Endpoint): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${path}: TCP has stopped`)), LIMIT_MS);
  try {
    const { sent, received } = await Promise.race([transfer(from, to, MEGABYTES), promise]);
    assert.equal(sent.bytes, MEGABYTES * 1024 * 1024, path);
    assert.deepEqual(received, sent, path);
  } finally {
    clearTimeout(timer);
  }
}

/** Of all connections of the namespace. */
async function retransmissions(from: Endpoint): Promise<number> {
  const [names = '', values = ''] = (await from.run('cat', '/proc/net/snmp'))
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'));
  return Number(values.split(' ')[names.split(' ').indexOf('RetransSegs')]);
}

const gso = { useTAPInterfaces: true, enableGSO: true };
const veth = { useTAPInterfaces: false };

interface Case {
  readonly name: string;
  readonly contiv: Readonly<Record<string, unknown>>;
  readonly uplink?: 'AF_PACKET' | 'TAP' | 'TAP with GSO';
  readonly families?: readonly (4 | 6)[];
  /** Run without an overlay, too. */
  readonly plain?: true;
  /** `4`, `6` or `plain`: run also without VPP_CASES=all, because no other case covers the path. */
  readonly always?: readonly (4 | 6 | 'plain')[];
}

const cases: readonly Case[] = [
  { name: 'TAP with GSO', contiv: gso, families: [4, 6], plain: true, always: [4, 6] },
  { name: 'TAP with GSO, a TAP as NIC', contiv: gso, uplink: 'TAP' },
  {
    name: 'TAP with GSO, a TAP with GSO as NIC',
    contiv: gso,
    uplink: 'TAP with GSO',
    plain: true,
    always: ['plain'],
  },
  { name: 'TAP with GSO and an odd MTU', contiv: { ...gso, mtuSize: 1401 } },
  {
    name: 'TAP with GSO and an MTU above that of the NIC',
    contiv: { ...gso, mtuSize: 9000 },
    plain: true,
    always: [4],
  },
  { name: 'TAP without GSO', contiv: { ...gso, enableGSO: false } },
  { name: 'TAP without GSO, a TAP as NIC', contiv: { ...gso, enableGSO: false }, uplink: 'TAP' },
  { name: 'VETH', contiv: { ...veth, tcpChecksumOffloadDisabled: true } },
  {
    name: 'VETH, with GSO and checksum offload requested',
    contiv: { ...veth, enableGSO: true, tcpChecksumOffloadDisabled: false },
    always: [4],
  },
];

/** The others differ from these in one setting: they run with VPP_CASES=all. */
function isSelected({ always = [] }: Case, transport: string, family: 4 | 6): boolean {
  return runsAllCases || always.includes(transport === 'nooverlay' ? 'plain' : family);
}

/** Each receiver gets one transfer at a time. */
async function carriesEverywhere(cluster: RealCluster): Promise<void> {
  const [one, two] = cluster.nodes;
  const [web, db, far] = [
    await one!.node.pod('web'),
    await one!.node.pod('db'),
    await two!.node.pod('far'),
  ];
  const host: Endpoint = { ...one!.host, address: cluster.networks.hostLink(one!.id) };
  await Promise.all([
    carries('pod to pod on one node', web, db),
    carries('pod to pod across nodes', web, far),
    carries('pod to the host', web, one!.host),
    carries('pod to the other host', web, two!.host),
    carries('pod to the outside', web, cluster.outside),
  ]);
  const repeated = await retransmissions(web);
  assert.ok(repeated < MOST_RETRANSMISSIONS, `web repeated ${repeated} segments`);
  await Promise.all([
    carries('host to pod', host, web),
    carries('host to a pod of the other node', host, far),
  ]);
  await carries('outside to pod', cluster.outside, web);
}

const IPV4 = [4] as const;

const options = { skip: withoutNodes() || withoutVhostNet(), timeout: 900_000 };

/** A case with a family and a transport. */
const variants = (['vxlan', 'nooverlay'] as const).flatMap((transport) =>
  cases
    .filter(({ plain }) => transport === 'vxlan' || plain)
    .flatMap((one) =>
      (one.families ?? IPV4)
        .filter((family) => isSelected(one, transport, family))
        .map((family) => ({ ...one, family, transport })),
    ),
);

describe('bulk TCP', options, () => {
  for (const { name, contiv, uplink = 'AF_PACKET', family, transport } of selectCases(variants))
    it(`${transport}, IPv${family}, ${name}`, async () => {
      await using cluster = await RealCluster.create({
        nodes: 2,
        family,
        uplink,
        contiv: { ...contiv, nodeToNodeTransport: transport },
      });
      await carriesEverywhere(cluster);
    });
});
