/** An indexed local copy of the entries of a key-value store: `node examples/index-map/cache.ts` */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CacheHelper, silentLogger, systemClock } from 'contiv-vswitch';
import { LevelStore } from '#datastore/level-store.ts';

const folder = await mkdtemp(join(tmpdir(), 'cache-'));
const store = await LevelStore.open({ folder: join(folder, 'database') });
await store.put('pod/default/web', '{"node":"node1"}');
await store.put('pod/default/db', '{"node":"node2"}');

const pods = new CacheHelper<{ readonly node: string }>({
  title: 'pods',
  log: silentLogger,
  prefix: 'pod/',
  parse: (json) => JSON.parse(json),
  // the store has no index of the nodes
  fieldsOf: ({ node }) => ({ node: [node] }),
});

const read = Promise.withResolvers<void>();
const moved = Promise.withResolvers<void>();
pods.map.watch('example', ({ name, value, update }) => {
  if (pods.map.size === 2) read.resolve();
  if (update) console.log('moved:', name, 'to', value.node);
  if (update) moved.resolve();
});
const stopFollowing = pods.follow(store, systemClock);
await read.promise;
console.log('on node2:', pods.map.listNames('node', 'node2'));

await store.put('pod/default/web', '{"node":"node2"}');
await moved.promise;
console.log('on node2:', pods.map.listNames('node', 'node2').sort());

stopFollowing();
await store.close();
await rm(folder, { recursive: true });
