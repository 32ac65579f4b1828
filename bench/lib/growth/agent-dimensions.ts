/** Many nodes, and many watched interfaces, on a simulated VPP. */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { addPod, type Node } from '#test/cmd/agent/harness.ts';
import { nodeWithNics, Scenario, tellOfNode } from '#test/cmd/agent/scenario.ts';
import { startWatchingAgent } from '#test/descriptors/compliance/watching-agent.ts';
import type { Dimension } from './dimension.ts';

/** Networks with enough subnets for all nodes. */
const wide = {
  podSubnetCIDR: '10.0.0.0/8',
  podSubnetOneNodePrefixLen: 22,
  vppHostSubnetCIDR: '172.16.0.0/12',
  vppHostSubnetOneNodePrefixLen: 26,
  nodeInterconnectCIDR: '198.18.0.0/16',
  vxlanCIDR: '198.19.0.0/16',
};

/** The agent reads what has changed this long after it. */
const SETTLE_MS = 80;

export const agentDimensions: readonly Dimension[] = [
  {
    name: 'nodes',
    load: 'the start of an agent that finds as many nodes',
    sizes: [78, 312, 1_250, 5_000],
    batch: 1,
    async prepare(size) {
      const node = await nodeWithNics();
      for (let id = 2; id <= size; id++) await joined(node, id);
      return async () => {
        const scenario = await Scenario.start({ ipam: wide }, node);
        return {
          changes: {
            'a pod is attached': { make: (round) => attached(scenario, round) },
            'a node joins': {
              make: async (round) => {
                await joined(node, size + 1 + round);
                await systemClock.sleep(SETTLE_MS);
              },
              isLinear: 'the bridge domain of the tunnels is one value',
            },
          },
          [Symbol.asyncDispose]: () => scenario[Symbol.asyncDispose](),
        };
      };
    },
  },
  {
    name: 'watchers',
    load: 'as many interfaces that are created, and whose links are watched',
    sizes: [100, 400, 1_600, 6_400],
    batch: 10,
    async prepare(size) {
      const values = Array.from({ length: size }, (_, at) => loopback(`loop${at}`));
      return async () => {
        const clock = new ManualClock();
        const pass = (ms: number) => clock.advance(ms);
        const vpp = new SimVpp({
          nics: [NIC],
          clock,
          random: seededRandom(1),
          log: silentLogger,
        });
        const agent = await startWatchingAgent({ clock, connect: vpp.connect(), links: [], pass });
        await agent.commit('full-resync', [nic, ...values]);
        await pass(1_000);
        return {
          changes: {
            'a link goes down, or up again': {
              make: async (round) => {
                vpp.nics.setCarrier(NIC, round % 2 === 1);
                const key = linkStateKey.build({
                  iface: NIC,
                  state: round % 2 === 1 ? 'UP' : 'DOWN',
                });
                await agent.until('the link has changed', () => agent.state(key) === 'OBTAINED');
              },
            },
          },
          [Symbol.asyncDispose]: async () => {
            await agent.stop();
            vpp.close();
          },
        };
      };
    },
  },
];

const NIC = 'GigabitEthernet0/8/0';
const nic = keyed(vppInterfaceModel.canonical({ name: NIC, type: 'DPDK', enabled: true }));

function loopback(name: string): KeyedValue {
  return keyed(vppInterfaceModel.canonical({ name, type: 'SOFTWARE_LOOPBACK', enabled: true }));
}

function keyed(value: ReturnType<typeof vppInterfaceModel.canonical>): KeyedValue {
  return { key: vppInterfaceModel.key(value), value };
}

function joined(node: Node, id: number): Promise<void> {
  const address = (start: string) => `${start}.${id >> 8}.${id & 255}`;
  return tellOfNode(node, `node${id}`, {
    id,
    address: address('198.51'),
    vpp: `${address('198.18')}/16`,
  });
}

async function attached({ running }: Scenario, round: number): Promise<void> {
  const containerId = round.toString(16).padStart(8, '0').padEnd(64, '0');
  const netns = `/run/netns/${round}`;
  const reply = await addPod(running, { name: `pod${round}`, containerId, netns });
  if (reply.result !== 0) throw new Error(reply.error);
  await systemClock.sleep(SETTLE_MS);
}
