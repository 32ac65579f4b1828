import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { ServiceProcessor } from '#plugins/service/processor/service-processor.ts';
import {
  port,
  problemsOf,
  processed,
  recordsOf,
  type ServiceInput,
  service,
  unrenderedOf,
} from '../service-objects.ts';

const SHARED = 'TCP 198.51.100.7:80';
const DAYS = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'] as const;

/** A service with the shared address; its cluster address is its own. */
function sharing(name: string, created: string | undefined, more: ServiceInput = {}) {
  const clusterIP = `10.96.1.${name.charCodeAt(0)}`;
  const age = created === undefined ? {} : { created };
  return service({ name, ...age, clusterIP, externalIPs: ['198.51.100.7'], ...more });
}

function ownerOf(processor: ServiceProcessor, wanted = SHARED): string | undefined {
  for (const { name, addresses } of processor.rendered().values()) {
    const keys = addresses.map((one) => `${one.protocol} ${one.address}:${one.port}`);
    if (keys.includes(wanted)) return name;
  }
  return undefined;
}

const slices = new Slices(new ManualClock());

test('of two services with one address the older one has it, and the other is reported', async () => {
  const processor = await processed([sharing('a', DAYS[1]), sharing('b', DAYS[0])]);
  assert.equal(ownerOf(processor), 'shop/b');
  const reason = 'service shop/b has 198.51.100.7 TCP port 80';
  assert.deepEqual(unrenderedOf(processor, 'shop/a'), { [SHARED]: reason });
  assert.deepEqual([...problemsOf(processor)], [['shop/a', [reason]]]);
  const first = await processed([sharing('b', undefined), sharing('a', undefined)]);
  assert.equal(ownerOf(first), 'shop/a', 'equally old: the first by name');
});

test('services share an address on different ports and protocols', async () => {
  const processor = await processed([
    sharing('a', DAYS[0]),
    sharing('b', DAYS[1], { ports: [port({ port: 81 }), port({ name: 'u', protocol: 'UDP' })] }),
  ]);
  assert.equal(ownerOf(processor), 'shop/a');
  assert.equal(ownerOf(processor, 'TCP 198.51.100.7:81'), 'shop/b');
  assert.equal(ownerOf(processor, 'UDP 198.51.100.7:80'), 'shop/b');
  assert.equal(problemsOf(processor).size, 0);
});

test('the next service takes over when the first goes, and all that wait name the new owner', async () => {
  const objects = [sharing('a', DAYS[0]), sharing('b', DAYS[1]), sharing('c', DAYS[2])];
  const processor = await processed(objects);
  const key = resources.service.key('a', 'shop');
  const removed = { resource: 'service', key, current: undefined };
  const change = await processor.change(removed, slices);
  assert.deepEqual([...change.services.keys()].toSorted(), ['shop/a', 'shop/b']);
  assert.equal(change.services.get('shop/a'), undefined);
  assert.deepEqual(
    [...change.problems],
    [
      ['shop/b', []],
      ['shop/c', ['service shop/b has 198.51.100.7 TCP port 80']],
    ],
  );
  assert.equal(ownerOf(processor), 'shop/b');
  const current = recordsOf(objects, []).get('service')?.get(key);
  await processor.change({ resource: 'service', key, current }, slices);
  assert.equal(ownerOf(processor), 'shop/a', 'it is still the oldest');
});

test('an address that a user chooses takes no cluster address and no node port', async () => {
  const thief = sharing('a', DAYS[0], {
    externalIPs: ['10.96.0.9', '192.168.16.1'],
    ports: [port(), port({ name: 'alt', port: 30_080 })],
  });
  const victim = service({
    created: DAYS[2],
    type: 'NodePort',
    ports: [port({ nodePort: 30_080 })],
  });
  const processor = await processed([thief, victim]);
  assert.equal(ownerOf(processor, 'TCP 10.96.0.9:80'), 'shop/web');
  assert.equal(ownerOf(processor, 'TCP 192.168.16.1:30080'), 'shop/web');
  assert.equal(problemsOf(processor).get('shop/a')?.length, 2);
});
