/** The annotations of a pod for its bandwidth. */
import {
  type BandwidthDirection,
  bandwidthAnnotations,
} from '#kubernetes/models/bandwidth-annotations.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import type { PodId } from '#plugins/podmanager/api.ts';
import type { PodBandwidth } from './api.ts';
import { parseQuantity } from './quantity.ts';

/** Bits a second; those of Kubernetes. */
const [SMALLEST, LARGEST] = [10n ** 3n, 10n ** 15n];

/** Characters of a value in a message. */
const SHOWN = 40;

const DIRECTIONS = Object.keys(bandwidthAnnotations) as readonly BandwidthDirection[];

/** Undefined: the pod asks for no limit, or its record is not known. */
export function podBandwidth(
  kubeState: KubeState,
  { name, namespace }: PodId,
): PodBandwidth | undefined {
  const record = kubeState.get('pod')?.get(resources.pod.key(name, namespace)) as Pod | undefined;
  return record && bandwidthOf(record);
}

/** A direction whose value cannot be used has no limit: an error of one pod is no reason to stop its traffic. */
export function bandwidthOf({ annotations }: Pod): PodBandwidth | undefined {
  const limits: Partial<Record<BandwidthDirection, number>> = {};
  const problems: string[] = [];
  for (const direction of DIRECTIONS) {
    const name = bandwidthAnnotations[direction];
    const text = annotations[name];
    if (text === undefined) continue;
    const rate = parseQuantity(text);
    const problem = whyUnusable(rate);
    if (problem === undefined) limits[direction] = Number(rate);
    else problems.push(`${name}: ${JSON.stringify(text.slice(0, SHOWN))} ${problem}`);
  }
  const isAsked = problems.length > 0 || Object.keys(limits).length > 0;
  return isAsked ? { limits, problems } : undefined;
}

function whyUnusable(rate: bigint | undefined): string | undefined {
  if (rate === undefined) return 'is no quantity, such as 10M';
  if (rate < SMALLEST) return 'is less than 1k bits a second';
  return rate > LARGEST ? 'is more than 1P bits a second' : undefined;
}

/** Whether the change of a record changes what its pod asks for. */
export function changesBandwidth({ resource, previous, current }: KubeStateChangePayload): boolean {
  if (resource !== 'pod') return false;
  const [before, after] = [previous, current].map((record) =>
    DIRECTIONS.map((one) => (record as Pod | undefined)?.annotations[bandwidthAnnotations[one]]),
  );
  return DIRECTIONS.some((_, position) => before![position] !== after![position]);
}
