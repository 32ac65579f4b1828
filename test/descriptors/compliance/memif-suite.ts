/** A memif whose peer connects and disconnects: its link and its queues. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { linkStateKey, rxModesKey, rxPlacementKey } from '#models/vpp/derived.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { startWatchingAgent, type WatchedVpp, type WatchingAgent } from './watching-agent.ts';

export interface MemifBackend extends WatchedVpp {
  stop(): Promise<void>;
}

const ALL = 0xffff_ffff;
const SOCKET_FILENAME = 'abstract:contiv-memif-suite';
/** Under which the peer knows the same file. */
const PEER_SOCKET = 7;

export function memifSuite(start: () => Promise<MemifBackend>): void {
  describe('memif with a peer', () => {
    let backend: MemifBackend;
    let agent: WatchingAgent;
    let peer: number;

    const memif = (): KeyedValue => {
      const value = vppInterfaceModel.canonical({
        name: 'memif-1',
        type: 'MEMIF',
        enabled: true,
        memif: { id: 1, master: true, socket_filename: SOCKET_FILENAME, secret: 'hush' },
        rx_modes: [{ default_mode: true, mode: 'INTERRUPT' }],
        rx_placements: [{ queue: 0, main_thread: true }],
      });
      return { key: vppInterfaceModel.key(value), value };
    };
    const iface = 'memif-1';
    const up = linkStateKey.build({ iface, state: 'UP' });
    const down = linkStateKey.build({ iface, state: 'DOWN' });
    const modes = rxModesKey.build({ iface });
    const placement = rxPlacementKey.build({ iface, queue: 0 });
    const addPeer = async (): Promise<void> => {
      const { client } = agent;
      const made = await client.request('memif_create_v2', {
        role: 1,
        mode: 0,
        rx_queues: 1,
        tx_queues: 1,
        id: 1,
        socket_id: PEER_SOCKET,
        ring_size: 1024,
        buffer_size: 2048,
        no_zero_copy: false,
        use_dma: false,
        hw_addr: new Uint8Array(6),
        secret: 'hush',
      });
      peer = made.sw_if_index;
      await client.request('sw_interface_set_flags', { sw_if_index: peer, flags: 1 });
    };
    const deletePeer = () => agent.client.request('memif_delete', { sw_if_index: peer });

    before(async () => {
      backend = await start();
      agent = await startWatchingAgent(backend);
      const { client } = agent;
      const socket = { socket_id: PEER_SOCKET, socket_filename: SOCKET_FILENAME };
      await client.request('memif_socket_filename_add_del_v2', { is_add: true, ...socket });
    });
    after(async () => {
      await agent?.commit('full-resync', []);
      await agent?.stop();
      await backend?.stop();
    });

    test('without a peer the link is down and its queues wait', async () => {
      await agent.commit('full-resync', [memif()]);
      await agent.until('link is known', () => agent.state(down) === 'OBTAINED');
      assert.equal(agent.state(modes), 'PENDING');
      assert.equal(agent.state(placement), 'PENDING');
      const again = await agent.commit('full-resync', [memif()]);
      assert.deepEqual(
        again.filter((each) => !each.startsWith('UPDATE')),
        [],
      );
    });

    test('when the peer connects, the link is up and the queues are configured', async () => {
      await addPeer();
      await agent.until('link is up', () => agent.state(up) === 'OBTAINED');
      assert.equal(agent.state(down), 'NONEXISTENT');
      await agent.until('queues are set', () => agent.state(modes) === 'CONFIGURED');
      await agent.until('queues are placed', () => agent.state(placement) === 'CONFIGURED');
      const queues = await agent.client.dump('sw_interface_rx_placement_dump', {
        sw_if_index: ALL,
      });
      const own = queues.filter((each) => each.sw_if_index !== peer);
      assert.deepEqual(
        own.map(({ queue_id, worker_id, mode }) => ({ queue_id, worker_id, mode })),
        [{ queue_id: 0, worker_id: 0, mode: 2 }],
      );
      assert.deepEqual(await agent.commit('full-resync', [memif()]), []);
    });

    test('they go with the peer, and come again', async () => {
      await deletePeer();
      await agent.until('link is down', () => agent.state(down) === 'OBTAINED');
      await agent.until('queues wait', () => agent.state(modes) === 'PENDING');
      await addPeer();
      await agent.until('queues are set', () => agent.state(modes) === 'CONFIGURED');
      assert.equal(agent.state(up), 'OBTAINED');
      await deletePeer();
    });
  });
}
