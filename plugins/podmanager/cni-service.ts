/**
 * The CNI service without its transport: turns requests into events and replies of handlers into
 * answers. Whatever goes wrong is answered with result 1 and a text, as the CNI plugin expects it.
 */

import { defineError, errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  type CheckRequest,
  CNIReply,
  CNIRequest,
  CNIStateService,
  type GCRequest,
  RemoteCNIService,
  StatusReply,
  type StatusRequest,
} from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import {
  AddPod,
  type AddPodPayload,
  type AddPodReply,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type DeletePodPayload,
  podIdText,
} from './api.ts';
import { parseRequest } from './cni-request.ts';
import type { PodManager } from './plugin.ts';

export const CniCheckError = defineError({
  name: 'CniCheckError',
  code: 'CV_CNI_CHECK',
  remedy:
    'The runtime makes the pod anew; if it stays, GET /scheduler/status says why values are not as they shall be.',
});

export interface CniServiceDeps {
  readonly loop: EventLoop;
  readonly pods: Pick<PodManager, 'attachments' | 'attachmentsOf' | 'isDisplaced' | 'started'>;
  readonly state: CniState;
  readonly log: Logger;
}

/** What is asked of others of the agent. */
export interface CniState {
  /** Whether pods can be attached; if not, or if attached ones may be cut off, why. */
  readiness(): { readonly ready: boolean; readonly limited: boolean; readonly reason: string };
  /** CIDR of the pods of this node; undefined before the node has its ID. */
  podCidr(): string | undefined;
  /** Addresses without prefix length. */
  addresses(attachment: AttachmentId): readonly string[];
  /** What is configured for an attachment and does not stand as it shall: `key: state`. */
  faults(attachment: AttachmentId): readonly string[];
}

type Call<Request, Response> = (request: Request, signal?: AbortSignal) => Promise<Response>;

export interface CniService {
  readonly add: Call<CNIRequest, CNIReply>;
  readonly delete: Call<CNIRequest, CNIReply>;
  readonly check: Call<CheckRequest, CNIReply>;
  readonly gc: Call<GCRequest, CNIReply>;
  readonly status: Call<StatusRequest, StatusReply>;
}

/** The calls as `cni.proto` names them. */
export const cniMethods = {
  add: RemoteCNIService.Add,
  delete: RemoteCNIService.Delete,
  check: CNIStateService.Check,
  gc: CNIStateService.GC,
  status: CNIStateService.Status,
} as const;

const noRequest = messageCodec(CNIRequest).canonical({});
const replyCodec = messageCodec(CNIReply);
const statusCodec = messageCodec(StatusReply);
const FAILED = 1;
/** CNI's own code for it. */
const TRY_AGAIN_LATER = 11;

export function cniService(deps: CniServiceDeps): CniService {
  const answered =
    <Request>(what: string, call: Call<Request, CNIReply>): Call<Request, CNIReply> =>
    async (request, signal) => {
      try {
        // what pods are attached is known only then; requests keep their order across it
        await until(deps.pods.started, signal);
        return await call(request, signal);
      } catch (error) {
        deps.log.error({ err: error, request }, `CNI ${what} failed`);
        const result = traitsOf(error).isRetriable ? TRY_AGAIN_LATER : FAILED;
        return replyCodec.canonical({ result, error: errorText(error) });
      }
    };

  /**
   * Another container of the same pod under the same interface name is a sandbox that the runtime
   * has given up; its DEL may come late or never.
   */
  function deleteObsolete(
    added: AddPodPayload,
    known: readonly DeletePodPayload[],
    signal?: AbortSignal,
  ): Promise<unknown>[] {
    return known
      .filter(({ interfaceName }) => interfaceName === added.interfaceName)
      .filter(({ containerId }) => containerId !== added.containerId)
      .map((obsolete) =>
        detach(obsolete, signal).catch((error) =>
          deps.log.warn(
            { err: error, pod: podIdText(obsolete.pod), container: obsolete.containerId },
            'obsolete attachment could not be deleted cleanly',
          ),
        ),
      );
  }

  /** Attachments of the pod that are older than this one; none when it is gone already. */
  function olderThan(added: AddPodPayload): readonly DeletePodPayload[] {
    const all = deps.pods.attachmentsOf(added.pod);
    const own = attachmentId(added);
    const at = all.findIndex((one) => attachmentId(one) === own);
    return at < 0 ? [] : all.slice(0, at);
  }

  async function detach(attachment: DeletePodPayload, signal?: AbortSignal): Promise<void> {
    const { pod, containerId, interfaceName } = attachment;
    await deps.loop.pushAndWait(DeletePod.event({ pod, containerId, interfaceName }), signal);
  }

  return {
    add: answered('ADD', async (request, signal) => {
      const payload = parseRequest(request, ['container_id', 'network_namespace', 'pod']);
      deps.log.debug({ attachment: attachmentId(payload), pod: payload.pod }, 'CNI ADD');
      // all in one go: the queue keeps this order, and no later request comes in between
      const obsolete = deleteObsolete(payload, deps.pods.attachmentsOf(payload.pod), signal);
      const added = deps.loop.pushAndWait(AddPod.event(payload), signal);
      const [replies] = await Promise.all([added, ...obsolete]);
      // one whose ADD was still in the queue when this one came is known only now
      await Promise.all(deleteObsolete(payload, olderThan(payload)));
      return addReply(replies);
    }),
    delete: answered('DEL', async (request, signal) => {
      const payload = parseRequest(request, ['container_id']);
      const known = deps.pods.attachments().get(attachmentId(payload));
      deps.log.debug({ attachment: attachmentId(payload), pod: payload.pod }, 'CNI DEL');
      // A DEL need not say whose container it is; of one that nobody knows nothing is left either,
      // unless an ADD of it waits its turn: that one has said it, and so has its DEL.
      const pod = payload.pod.name === '' ? known?.pod : payload.pod;
      if (pod) await detach({ ...payload, pod }, signal);
      return replyCodec.canonical({});
    }),
    check: answered('CHECK', async ({ request, addresses }) => {
      const payload = parseRequest(request ?? noRequest, ['container_id', 'network_namespace']);
      const id = attachmentId(payload);
      const faults = attachmentFaults(deps, id, payload.networkNamespace, addresses);
      if (faults.length > 0) throw new CniCheckError(faults.join('; '), { where: id });
      return replyCodec.canonical({});
    }),
    gc: answered('GC', async ({ valid, network }, signal) => {
      const kept = new Set(
        valid.map(({ container_id, interface_name }) =>
          attachmentId({ containerId: container_id, interfaceName: interface_name }),
        ),
      );
      // What does not say its network is of the only one that there was.
      const isOfIt = (one: Attachment) => network === '' || (one.network ?? network) === network;
      const stale = [...deps.pods.attachments()].filter(
        ([id, attachment]) => isOfIt(attachment) && !kept.has(id),
      );
      if (stale.length > 0)
        deps.log.info(
          { attachments: stale.map(([id]) => id) },
          'CNI GC: the runtime knows no more',
        );
      const ends = await Promise.allSettled(
        stale.map(([, attachment]) => detach(attachment, signal)),
      );
      // An answer any earlier would take the caller away, and with it those that wait their turn.
      const failure = ends.find((end) => end.status === 'rejected');
      if (failure) throw failure.reason;
      return replyCodec.canonical({});
    }),
    status: async () => {
      const { ready, limited, reason } = deps.state.readiness();
      return statusCodec.canonical({
        ready,
        limited,
        reason,
        pod_cidr: deps.state.podCidr() ?? '',
      });
    },
  };
}

function attachmentFaults(
  { pods, state }: CniServiceDeps,
  id: AttachmentId,
  networkNamespace: string,
  addresses: readonly string[],
): readonly string[] {
  const attachment = pods.attachments().get(id);
  if (!attachment) return ['it is not attached'];
  const faults: string[] = [];
  if (attachment.networkNamespace !== networkNamespace)
    faults.push(`it is attached in ${attachment.networkNamespace}, not in ${networkNamespace}`);
  if (pods.isDisplaced(id))
    faults.push(`${networkNamespace} leads to another namespace than when it was attached`);
  const held = state.addresses(id);
  const lost = addresses.filter((address) => !held.includes(address));
  if (lost.length > 0)
    faults.push(`it has ${held.join(', ') || 'no address'} and not ${lost.join(', ')}`);
  return [...faults, ...state.faults(id)];
}

/** Waits for the promise, but not beyond the caller's patience. */
async function until(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return promise;
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function addReply(replies: readonly AddPodReply[]): CNIReply {
  return replyCodec.canonical({
    interfaces: replies
      .flatMap(({ interfaces = [] }) => interfaces)
      .map(({ name, mac, sandbox, addresses }) => ({
        name,
        mac,
        sandbox,
        ip_addresses: addresses.map(({ family, address, gateway }) => ({
          version: family === 4 ? 'IPV4' : 'IPV6',
          address,
          gateway,
        })),
      })),
    routes: replies
      .flatMap(({ routes = [] }) => routes)
      .map(({ destination, gateway }) => ({ dst: destination, gw: gateway })),
  });
}
