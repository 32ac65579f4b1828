import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { answer } from '#infra/http/route.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { registerCallMetrics } from '#vpp/calls/metrics.ts';
import { callRoutes } from '#vpp/calls/routes.ts';

const UNKNOWN_INTERFACE = 99;
const request = { query: {}, params: {}, body: undefined };

describe('requests to VPP', () => {
  const registry = new Registry();
  const options = { clock: systemClock, random: systemRandom, log: silentLogger };
  const vpp = new SimVpp(options);
  const calls = registerCallMetrics(registry, () => client);
  const client: BinapiClient = new BinapiClient({
    ...options,
    connect: vpp.connect(),
    observer: calls,
  });
  const routes = callRoutes(calls, client);

  before(async () => {
    client.start();
    await client.whenConnected();
    for (let n = 0; n < 3; n++)
      await client.request('create_loopback', { mac_address: new Uint8Array(6) });
    await assert.rejects(client.request('delete_loopback', { sw_if_index: UNKNOWN_INTERFACE }));
    await client.dump('sw_interface_dump', {
      sw_if_index: 0xffff_ffff,
      name_filter_valid: false,
      name_filter: '',
    });
  });
  after(async () => {
    await client.close();
    vpp.close();
  });

  it('are counted under the names of the original', async () => {
    const text = await registry.metrics();
    for (const line of [
      'ligato_govppmux_channels_created_total 1',
      'ligato_govppmux_channels 1',
      'ligato_govppmux_requests 0',
      'ligato_govppmux_requests_total{message="create_loopback"} 3',
      'ligato_govppmux_requests_done_total{message="create_loopback"} 3',
      'ligato_govppmux_requests_done_total{message="sw_interface_dump"} 1',
      'ligato_govppmux_requests_failed_total{message="delete_loopback",error="CV_VPP_REFUSED -2"} 1',
      'ligato_govppmux_replies_received_total{message="create_loopback_reply"} 3',
      'ligato_govppmux_replies_received_total{message="sw_interface_details"} 4',
      'ligato_govppmux_successful_request_duration_seconds_count{message="create_loopback"} 3',
    ])
      assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
  });

  it('are a document of agentctl', async () => {
    const [stats, metric] = routes;
    const { body } = await stats!.handle(request);
    const { AllMessages, Messages, Errors, Replies, ...totals } = body as {
      AllMessages: { count: number };
      Messages: { name: string; count: number }[];
      Errors: object[];
      Replies: object[];
    };
    const expected = {
      channels_created: 1,
      channels_open: 1,
      requests_sent: 5,
      requests_done: 4,
      requests_fail: 1,
      request_replies: 7,
    };
    assert.deepEqual(totals, expected);
    assert.equal(AllMessages.count, 4);
    assert.deepEqual(
      Messages.map(({ name, count }) => [name, count]),
      [
        ['create_loopback', 3],
        ['sw_interface_dump', 1],
      ],
    );
    assert.deepEqual(Errors, [{ name: 'CV_VPP_REFUSED -2', count: 1 }]);
    assert.deepEqual(Replies, [
      { name: 'sw_interface_details', count: 4 },
      { name: 'create_loopback_reply', count: 3 },
    ]);
    const one = await metric!.handle({ ...request, params: { metric: 'govppmux.stats' } });
    assert.deepEqual(one.body, expected);
    assert.equal((await answer(metric!, { ...request, params: { metric: 'x' } })).status, 404);
  });
});
