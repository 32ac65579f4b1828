/** Limits of the bandwidth of this node's pods. */
import { isDeepStrictEqual } from 'node:util';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { BandwidthDirection } from '#kubernetes/models/bandwidth-annotations.ts';
import { bandwidthLimitModel } from '#models/vpp/bandwidth-limit.ts';
import type { ResyncContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { Journal } from '#plugins/controller/api/journal.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import { Table } from '#plugins/controller/api/table.ts';
import {
  type Attachment,
  type AttachmentId,
  attachmentId,
  podIdText,
} from '#plugins/podmanager/api.ts';
import type { PodBandwidth } from './api.ts';
import { valueGroup } from './names.ts';
import { podBandwidth } from './pod-bandwidth.ts';

export const PodBandwidthError = defineError({
  name: 'PodBandwidthError',
  code: 'CV_NET_POD_BANDWIDTH',
  isRetriable: false,
  remedy:
    'Correct the annotations of the pod: a quantity from 1k to 1P, in bits a second. If VPP has no policer, load its plugin `policer_plugin.so` and restart VPP.',
});

const NO_POLICER = 'VPP has no policer: its plugin is not loaded';

interface AskedLimit {
  readonly pod: string;
  readonly bandwidth: PodBandwidth;
}

export class BandwidthLimits {
  readonly #vpp: Pick<VppPort, 'hasPolicers'>;
  readonly #asked: Table<AttachmentId, AskedLimit>;
  /** Undefined: no pod has asked for a limit yet, or VPP did not answer. */
  #hasPolicers: boolean | undefined;

  constructor(journal: Journal, vpp: Pick<VppPort, 'hasPolicers'>) {
    this.#asked = new Table(journal);
    this.#vpp = vpp;
  }

  /** Puts the values of a pod as its record is now. */
  async put(
    ctx: ResyncContext | UpdateContext,
    attachment: Attachment,
    vppInterface: string,
  ): Promise<void> {
    const id = attachmentId(attachment);
    const bandwidth = podBandwidth(ctx.kubeState, attachment.pod);
    if (bandwidth === undefined) {
      this.delete(ctx, id);
      return;
    }
    await this.#askForPolicers(ctx);
    const pod = podIdText(attachment.pod);
    const before = this.#asked.get(id)?.bandwidth.problems;
    // other resyncs find what was logged before
    const isNews =
      'isStateNew' in ctx ? ctx.isStateNew : !isDeepStrictEqual(before, bandwidth.problems);
    this.#asked.set(id, { pod, bandwidth });
    if (isNews)
      for (const error of this.#errorsOf(id)) ctx.log.warn({ pod, err: error }, error.message);
    const isApplied = this.#hasPolicers !== false;
    ctx.txn.replace(
      valueGroup.bandwidth(id),
      isApplied ? limitValues(vppInterface, bandwidth) : [],
    );
  }

  delete({ txn }: Pick<UpdateContext, 'txn'>, id: AttachmentId): void {
    if (!this.#asked.has(id)) return;
    this.#asked.delete(id);
    txn.replace(valueGroup.bandwidth(id), []);
  }

  of(id: AttachmentId): PodBandwidth | undefined {
    const bandwidth = this.#asked.get(id)?.bandwidth;
    return bandwidth && this.#hasPolicers === false
      ? { limits: {}, problems: [...bandwidth.problems, NO_POLICER] }
      : bandwidth;
  }

  /** In sentences for operators. */
  problems(): readonly string[] {
    return [...this.#asked.keys()].flatMap((id) => this.#errorsOf(id)).map((one) => one.message);
  }

  #errorsOf(id: AttachmentId): CodedError[] {
    const problems = this.of(id)?.problems ?? [];
    const where = this.#asked.get(id)?.pod ?? '';
    return problems.map(
      (problem) => new PodBandwidthError(`no limit of bandwidth: ${problem}`, { where }),
    );
  }

  async #askForPolicers(ctx: ResyncContext | UpdateContext): Promise<void> {
    if (this.#hasPolicers !== undefined) return;
    try {
      this.#hasPolicers = await ctx.callPort('vpp/has policers', () => this.#vpp.hasPolicers());
    } catch (cause) {
      ctx.log.warn({ err: cause }, 'cannot ask VPP for its policer');
    }
  }
}

/** VPP counts up to this rate, and with it nothing of this node is limited. */
const LARGEST_KBPS = 0xffff_ffff;
/** Several of the largest packets that a pod sends, which VPP counts before it segments them. */
const SMALLEST_BURST = 256 * 1024;
const LARGEST_BURST = 0x7fff_ffff;
/**
 * TCP sends faster than a policer permits until a packet is lost, and then loses all of them, since nothing queues.
 * It sends again after 0.2 to 0.4 s: a burst that holds less than what may pass meanwhile is what it gets, and no more.
 */
const BURST_SECONDS = 0.5;

/** The directions of VPP: it sends what the pod receives. */
const vppDirections = { ingress: 'OUTPUT', egress: 'INPUT' } as const;

function limitValues(vppInterface: string, { limits }: PodBandwidth): KeyValue[] {
  return Object.entries(limits).map(([direction, rate]) => {
    const burst = Math.ceil((rate / 8) * BURST_SECONDS);
    return keyValue(bandwidthLimitModel, {
      interface: vppInterface,
      direction: vppDirections[direction as BandwidthDirection],
      rate_kbps: Math.min(LARGEST_KBPS, Math.ceil(rate / 1000)),
      burst_bytes: Math.min(LARGEST_BURST, Math.max(SMALLEST_BURST, burst)),
    });
  });
}
