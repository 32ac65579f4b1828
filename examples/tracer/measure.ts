/** Measures how long repeated work takes: `node examples/tracer/measure.ts` */
import { silentLogger, systemClock, Tracer } from 'contiv-vswitch';

const tracer = new Tracer('example', silentLogger, systemClock);

async function work(entity: string, ms: number): Promise<void> {
  const start = systemClock.monotonic();
  await systemClock.sleep(ms);
  tracer.logTime(entity, start);
}

for (let count = 0; count < 2; count++) await work('read', 10);
await work('write', 20);

const { traced_entries: entries, entry_stats: stats, overall_duration: overall } = tracer.get();
console.log('entries:', entries.map(({ index, msg_name }) => `${index} ${msg_name}`).join(', '));
console.log('averages of:', stats.map(({ msg_name }) => msg_name).join(', '));
console.log('overall is the sum:', overall === entries.reduce((sum, one) => sum + one.duration, 0));

// a long run clears what it has read, else the entries fill the memory
tracer.clear();
await work('read', 1);
console.log(
  'after clear:',
  tracer.get().traced_entries.map(({ index }) => index),
);
