/** Records that storms write: of a part of the large cluster, in the order of their writes. */
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { NODES } from '../ksr/large-cluster.ts';
import type { ClusterPart } from './cluster-part.ts';
import {
  endpointsRecord,
  type LargeRecord,
  largeRecords,
  livesIn,
  nodeRecord,
  OWN_NODE,
  podRecord,
  serviceOf,
  vppNodeRecord,
} from './large-records.ts';

/** Pods that are being replaced at once. */
const AT_ONCE = 20;
/** Those of daemons, which a node has from its beginning. */
const PODS_OF_NEW_NODE = 5;

/** Records of contiv-ksr, without the records of agents. @param version of the pods; default: as they are */
export function* reflectedAgain(part: ClusterPart, version?: string): Generator<LargeRecord> {
  if (version === undefined) {
    for (const [key, text] of largeRecords(part))
      if (key.startsWith(`${REFLECTOR_PREFIX}k8s/`)) yield [key, text];
    return;
  }
  for (const pod of part.pods) if (!isOwn(pod)) yield podRecord(pod, 0, 'running', version);
}

/** Nodes that did not exist, each with the record of its agent and its first pods. */
export function* newNodes(first: number, count: number): Generator<LargeRecord> {
  for (let node = first; node < first + count; node++) {
    yield nodeRecord(node, 'v1');
    yield vppNodeRecord(node);
    for (let at = 0; at < PODS_OF_NEW_NODE; at++) yield podRecord(node + at * NODES, 0);
  }
}

/** Replaces pods of other nodes, and their endpoints with them. */
export function* rollingRestart(part: ClusterPart, count: number): Generator<LargeRecord> {
  const lives = new Map<number, number>();
  const pods = part.pods.filter((pod) => !isOwn(pod)).slice(0, count);
  const open: Generator<LargeRecord>[] = [];
  for (;;) {
    while (open.length < AT_ONCE && pods.length > 0) open.push(replace(part, lives, pods.pop()!));
    const oldest = open.shift();
    if (!oldest) return;
    const step = oldest.next();
    if (step.done) continue;
    yield step.value;
    open.push(oldest);
  }
}

function* replace(
  part: ClusterPart,
  lives: Map<number, number>,
  pod: number,
): Generator<LargeRecord> {
  const endpoints = () => endpointsRecord(serviceOf(pod), livesIn(part, lives));
  lives.set(pod, -1);
  yield endpoints();
  yield podRecord(pod, 0, 'deleted');
  yield podRecord(pod, 1, 'pending');
  yield podRecord(pod, 1);
  lives.set(pod, 1);
  yield endpoints();
}

function isOwn(pod: number): boolean {
  return pod % NODES === OWN_NODE;
}
