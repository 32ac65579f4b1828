/**
 * Generic segmentation offload (GSO): pods and the host pass TCP packets of up to 64 KB to VPP through
 * TAPs. A packet stays whole on its way to another TAP; where it leaves through another device, VPP
 * segments it.
 */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { segmentationModel } from '#models/vpp/segmentation.ts';
import type { InterfaceConfig } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { SegmentationTraits } from '#plugins/controller/api/ports/vpp.ts';
import { hostInterconnectName } from './interconnect-names.ts';
import type { NodeInput } from './node-input.ts';

export const GsoNotUsableError = defineError({
  name: 'GsoNotUsableError',
  code: 'CV_NET_GSO_NOT_USABLE',
  remedy:
    'Nothing is required: GSO is off on this node. To use it where a variant of the code is the reason, select another one in startup.conf of VPP, for example `node { default { variant hsw } }`; where the release is, use VPP v25.10 or later. Otherwise set enableGSO: false.',
});

/**
 * Variants of VPP's code for CPUs with AVX512_BITALG. They copy the payload of a segment to the wrong
 * place, also beyond its buffer (`clib_ip_csum_and_copy_chunk` of vppinfra).
 */
const defectiveVariants: ReadonlySet<string> = new Set(['icl', 'spr', 'znver4']);

/** @returns why GSO is not usable */
export function gsoProblem({ variant, isReported }: SegmentationTraits): CodedError | undefined {
  if (!isReported)
    return new GsoNotUsableError(
      'enableGSO is ignored: this release of VPP does not report on which interfaces it segments packets, so each resync would enable it once more',
    );
  if (!defectiveVariants.has(variant)) return undefined;
  return new GsoNotUsableError(
    `enableGSO is ignored: the variant ${variant} of VPP's code corrupts the packets that it segments`,
  );
}

/** VPP segments wrongly if the payload of a packet has an odd length, which an odd MTU leads to. */
export function mtuForSegmentation(mtu: number): number {
  return mtu - (mtu % 2);
}

export function usesGso({ useTap, enableGso }: InterfaceConfig): boolean {
  return useTap && enableGso;
}

/** All devices through which packets leave the node, and the link to the host if it has no GSO. */
export function segmentationValues(input: NodeInput): KeyValue[] {
  if (!usesGso(input.interfaces)) return [];
  const nics = [input.main, ...input.others].flatMap(({ name }) => name ?? []);
  const withoutGso = [...nics, ...(input.stn ? [hostInterconnectName(input)] : [])];
  return withoutGso.map((name) => keyValue(segmentationModel, { interface: name }));
}
