/** A program whose southbound kills it with the first request. */
import { setUp } from './setup.ts';

const bench = setUp({ writer: process.stdout });
bench.southbound.onCall = () => process.kill(process.pid, 'SIGKILL');
await bench.commit({ 'a/1': { v: 1 } }, { description: 'the last one' });
