import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { type Logged, recordingLog } from '#test/vpp/binapi/scripted-vpp.ts';
import { fromAddress, fromMac, toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import { VppDisconnectedError } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import type { BinapiClientOptions } from '#vpp/binapi/client/options.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { Dumps } from '#vpp/binapi/messages.gen.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import { VppProcess } from '../support/vpp-process.ts';

const NONE = 0xffffffff;

/** Of VPP from v26.06 on. */
const messagesOfCnat = ['cnat_set_snat_addresses_v2', 'cnat_snat_addresses_dump'];

describe('binary API of a real VPP', { skip: withoutVpp(), timeout: 180_000 }, () => {
  const vpp = new VppProcess();
  const clients: BinapiClient[] = [];

  async function connect(
    options: Partial<BinapiClientOptions> = {},
  ): Promise<{ client: BinapiClient; lines: Logged[] }> {
    const { log, lines } = recordingLog();
    const client = new BinapiClient({
      connect: unixConnect(vpp.apiSocket, systemClock),
      clock: systemClock,
      random: systemRandom,
      log,
      reconnect: { firstMs: 10, maxMs: 100 },
      ...options,
    });
    clients.push(client);
    client.start();
    await client.whenConnected();
    return { client, lines };
  }

  before(() => vpp.start());
  after(async () => {
    for (const client of clients) await client.close();
    await vpp.remove();
  });

  test('has every message in use', async () => {
    const { client, lines } = await connect();
    const { version } = await client.request('show_version', {});
    assert.match(version, /^(24\.10|25\.10|26\.06|26\.10)/);
    const missing = [
      ...(version.startsWith('24.10') ? ['feature_is_enabled'] : []),
      ...(Number(version.slice(0, 2)) < 26 ? messagesOfCnat : []),
    ];
    const warnings = lines.filter((line) => line.text.includes('does not support'));
    assert.equal(warnings.length, missing.length > 0 ? 1 : 0);
    for (const name of bundledCatalog().services.keys())
      assert.equal(client.has(name), !missing.includes(name), name);
    const { reply } = await client.request('cli_inband', { cmd: 'show version' });
    assert.match(reply, /vpp/);
  });

  test('traces the packets of TAPs, and names the input nodes that this VPP lacks', async () => {
    const { client } = await connect();
    assert.equal(await vppPort(client).lackForWireguard(), undefined);
    const messages = await vppPort(client).tracePackets();
    // the VPP of the tests runs without DPDK; TAPs have an input node of their own since v26.06
    assert.ok(messages.includes('this VPP has no dpdk-input'));
    const { version } = await client.request('show_version', {});
    assert.equal(messages.includes('this VPP has no tap-input'), !version.startsWith('26.'));
  });

  test('creates and dumps interfaces and receives their events', async () => {
    const { client } = await connect();
    const events: number[] = [];
    const told = Promise.withResolvers<void>();
    client.onEvent('sw_interface_event', (event) => {
      events.push(event.sw_if_index);
      told.resolve();
    });
    await client.request('want_interface_events', { enable_disable: 1, pid: process.pid });
    const { sw_if_index } = await client.request('create_loopback', {
      mac_address: toMac('02:fe:00:00:00:07'),
    });
    await client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag: 'schön' });
    await client.request('sw_interface_set_flags', { sw_if_index, flags: 1 });
    await told.promise;
    assert.ok(events.includes(sw_if_index));
    const list = await client.dump('sw_interface_dump', {
      name_filter_valid: false,
      name_filter: '',
    });
    const own = list.find((details) => details.sw_if_index === sw_if_index);
    assert.equal(own?.tag, 'schön');
    assert.equal(own && fromMac(own.l2_address), '02:fe:00:00:00:07');
    await client.request('sw_interface_add_del_address', {
      sw_if_index,
      is_add: true,
      del_all: false,
      prefix: toPrefix('2001:db8::1/64'),
    });
    const [address] = await client.dump('ip_address_dump', { sw_if_index, is_ipv6: true });
    assert.equal(address && fromAddress(address.prefix.address), '2001:db8::1');
    // f64 has the byte order of the machine.
    await client.request('ip_neighbor_add_del', {
      is_add: true,
      neighbor: {
        sw_if_index,
        flags: 1,
        mac_address: toMac('02:fe:00:00:00:08'),
        ip_address: toAddress('2001:db8::2'),
      },
    });
    const [neighbor] = await client.dump('ip_neighbor_dump', { af: 1 });
    assert.ok(neighbor && neighbor.age >= 0 && neighbor.age < 60, `${neighbor?.age}`);
    await assert.rejects(
      client.request('delete_loopback', { sw_if_index: 4000 }),
      (error) => error instanceof VppRefusedError && error.retval < 0,
    );
    await client.request('delete_loopback', { sw_if_index });
  });

  test('replies to every dump in use with a list', async () => {
    const { client } = await connect();
    await client.request('nat44_ed_plugin_enable_disable', {
      enable: true,
      flags: 1,
      inside_vrf: 0,
      outside_vrf: 0,
      sessions: 0,
      session_memory: 0,
    });
    await client.request('nat44_add_del_lb_static_mapping', {
      is_add: true,
      flags: NatConfigFlags.NAT_IS_OUT2IN_ONLY,
      external_addr: Uint8Array.of(10, 96, 0, 1),
      external_port: 80,
      protocol: 6,
      affinity: 0,
      tag: 'three',
      locals: [1, 2, 3].map((i) => ({
        addr: Uint8Array.of(10, 1, 1, i),
        port: 8080,
        probability: i,
        vrf_id: 0,
      })),
    });
    const [mapping] = await client.dump('nat44_lb_static_mapping_dump', {});
    assert.deepEqual(
      mapping?.locals.map(({ addr, probability }) => [addr[3], probability]),
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    );
    const table = { table_id: 0, is_ip6: false, name: '' };
    const fields: Partial<{ [N in keyof Dumps]: Dumps[N]['request'] }> = {
      acl_dump: { acl_index: NONE },
      bd_ip_mac_dump: { bd_id: NONE },
      ip_address_dump: { sw_if_index: 0, is_ipv6: false },
      ip_neighbor_dump: { af: 0 },
      ip_punt_redirect_v2_dump: { sw_if_index: NONE, af: 0 },

      ip_route_v2_dump: { src: 0, table },
      l2_fib_table_dump: { bd_id: 0 },

      nat44_user_session_v3_dump: { ip_address: new Uint8Array(4), vrf_id: 0 },

      policer_dump_v2: { policer_index: NONE },
      punt_socket_dump: { type: 0 },
      sw_interface_dump: { name_filter_valid: false, name_filter: '' },
      sw_interface_rx_placement_dump: { sw_if_index: NONE },

      vxlan_tunnel_v2_dump: { sw_if_index: NONE },
      wireguard_interface_dump: { show_private_key: false, sw_if_index: NONE },
      wireguard_peers_dump: { peer_index: NONE },
    };
    for (const [name, service] of bundledCatalog().services) {
      if (service.kind === 'request' || !client.has(name as keyof Dumps)) continue;
      const dump = name as keyof Dumps;
      const list = await client.dump(dump, (fields[dump] ?? {}) as never);
      assert.ok(Array.isArray(list), name);
    }
  });

  test('a large dump and many requests at once', async () => {
    const { client } = await connect();
    const count = 20_000;
    const path = {
      sw_if_index: NONE,
      table_id: 0,
      rpf_id: 0,
      weight: 1,
      preference: 0,
      type: 2,
      flags: 0,
      proto: 0,
      nh: { address: new Uint8Array(4), via_label: 0, obj_id: 0, classify_table_index: 0 },
      n_labels: 0,
      label_stack: [],
    };
    const addresses = Array.from({ length: count }, (_, i) =>
      Uint8Array.of(11, i >> 16, i >> 8, i),
    );
    const change = (is_add: boolean) =>
      Promise.all(
        addresses.map((un) =>
          client.request('ip_route_add_del', {
            is_add,
            is_multipath: false,
            route: {
              table_id: 0,
              stats_index: 0,
              prefix: { address: { af: 0, un }, len: 32 },
              paths: [path],
            },
          }),
        ),
      );
    await change(true);
    const sources = await client.dump('fib_source_dump', {});
    const api = sources.find(({ src }) => src.name === 'API')!.src.id;
    const dump = () =>
      client.dump('ip_route_v2_dump', {
        src: api,
        table: { table_id: 0, is_ip6: false, name: '' },
      });
    assert.equal((await dump()).length, count);
    await change(false);
    assert.equal((await dump()).length, 0);
  });

  test('disconnects from a VPP that hangs and reconnects when it resumes', async () => {
    const { client } = await connect({ health: { intervalMs: 200, timeoutMs: 100, maxMisses: 3 } });
    await vpp.suspend();
    const error = await client.request('show_version', {}).catch((thrown: unknown) => thrown);
    vpp.resume();
    assert.ok(error instanceof VppDisconnectedError, String(error));
    await client.whenConnected();
    assert.equal(client.generation, 2);
    await client.request('control_ping', {});
    await client.close();
  });

  test('kill -9 with 1,000 in flight and restart, 20 times', async (t) => {
    const firstReplies: number[] = [];
    const { client } = await connect({ maxInFlight: 1000 });
    for (let round = 1; round <= 20; round++) {
      assert.equal(client.generation, round);
      let settled = 0;
      let wrong = 0;
      const all = Array.from({ length: 1000 }, (_, i) =>
        client
          .request('sw_interface_set_mtu', { sw_if_index: 0, mtu: [1000 + i, 0, 0, 0] })
          .catch((error: unknown) => {
            if (!(error instanceof VppDisconnectedError)) wrong++;
          })
          .finally(() => settled++),
      );
      // Before or while the requests are in flight.
      if (round % 2 === 0) await systemClock.turn();
      await vpp.kill();
      await Promise.all(all);
      assert.equal(settled, 1000);
      assert.equal(wrong, 0);
      await vpp.start();
      const listening = systemClock.monotonic();
      await client.whenConnected();
      await client.request('control_ping', {});
      firstReplies.push(systemClock.monotonic() - listening);
    }
    const [least, most] = [Math.min(...firstReplies), Math.max(...firstReplies)];
    t.diagnostic(`socket up to first reply: ${least.toFixed(0)} to ${most.toFixed(0)} ms`);
  });
});
