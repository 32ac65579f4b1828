import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap that garbage collection leaves. */
export function retainedBytes(): number {
  // a second collection takes what finalizers of the first one have released
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
