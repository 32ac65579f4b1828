/**
 * Copies the state of Kubernetes from one database to another, without an agent. The databases are folders, such as the
 * mirror of a stopped agent: `node examples/kube-state/copy.ts <from> <to>`
 */
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { loadKubeStateForResync, resyncDatabase } from '#plugins/dbwatcher/api.ts';

const [from = '', to = ''] = process.argv.slice(2);
const source = await LevelStore.open({ folder: from });
const target = await LevelStore.open({ folder: to });

const { event, values } = await loadKubeStateForResync(source, systemClock, silentLogger);
await resyncDatabase(target, event.payload.kubeState, systemClock);
for (const key of values.keys()) console.log(key);

await source.close();
await target.close();
