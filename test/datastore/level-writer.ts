/** Writes batches to a level store and prints the number of each that was acknowledged. */
import { LevelStore } from '#datastore/level-store.ts';

const [folder, name] = process.argv.slice(2);
const store = await LevelStore.open({ folder: folder! });
for (let round = 0; ; round++) {
  await store.putAll(new Map(['a', 'b', 'c'].map((key) => [`${name}/${key}`, `${round}`])));
  process.stdout.write(`${round}\n`);
}
