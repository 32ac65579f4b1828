import assert from 'node:assert/strict';
import { it } from 'node:test';
import { simulatedEnvironment } from '#demonstration/simulated-environment.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';

const rules = Array.from({ length: 20 }, () => ({
  is_permit: 2,
  src_prefix: toPrefix('0.0.0.0/0'),
  dst_prefix: toPrefix('0.0.0.0/0'),
  proto: 0,
  srcport_or_icmptype_first: 0,
  srcport_or_icmptype_last: 65_535,
  dstport_or_icmpcode_first: 0,
  dstport_or_icmpcode_last: 65_535,
  tcp_flags_mask: 0,
  tcp_flags_value: 0,
}));

it('does not keep the messages to the simulated VPP', async () => {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const loggers = new Loggers({ 'default-level': 'error', loggers: [] }, undefined, {
    write: () => undefined,
  });
  const { connectVpp } = simulatedEnvironment(
    { local: new MemoryStore(), localDisk: undefined },
    {
      clock,
      random,
      loggers,
    },
  );
  const client = new BinapiClient({ connect: connectVpp, clock, random, log: silentLogger });
  client.start();
  await client.whenConnected();
  const { acl_index } = await client.request('acl_add_replace', {
    acl_index: 0xffff_ffff,
    tag: '',
    r: [],
  });
  const send = async (count: number) => {
    for (let n = 0; n < count; n++)
      await client.request('acl_add_replace', { acl_index, tag: '', r: rules });
  };
  await send(200);
  const before = retainedBytes();
  await send(1_000);
  const more = retainedBytes() - before;
  await client.close();
  assert.ok(more < 1_000_000, `1,000 messages left ${more} bytes`);
});
