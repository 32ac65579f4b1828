/**
 * The CNI service without its transport: converts requests to events and replies of handlers to
 * responses. The reply to a request that failed has a `result` other than 0 and a text; the transports
 * add an error status of their protocol.
 */

import { CodedError, defineError, errorText, isDefect } from '#infra/errors/errors.ts';
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
import type { NamespaceIdentity } from '#plugins/controller/api/ports/host.ts';
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
import { failureReply } from './cni-failure.ts';
import { parseRequest } from './cni-request.ts';
import type { PodManager } from './plugin.ts';

export const CniCheckError = defineError({
  name: 'CniCheckError',
  code: 'CV_CNI_CHECK',
  remedy:
    'The runtime recreates the pod, or repeats its ADD, which wires it again; so does a downstream resync. GET /scheduler/status and GET /scheduler/drift list the values that are not in the desired state.',
});

export interface CniServiceDeps {
  readonly loop: EventLoop;
  readonly pods: Pick<
    PodManager,
    'attachments' | 'attachmentsOf' | 'idOf' | 'isDisplaced' | 'started'
  >;
  readonly state: CniState;
  readonly log: Logger;
}

/** State of other components of the agent. */
export interface CniState {
  /** Whether pods can be attached, and the reason if not or if attached pods may be disconnected. */
  readiness(): { readonly ready: boolean; readonly limited: boolean; readonly reason: string };
  /** Why the agent does not configure the node yet and no request can be processed; undefined: it does. */
  startBlocked(): Error | undefined;
  /** CIDR of the pods of this node; undefined before the node has its ID. */
  podCidr(): string | undefined;
  /** Addresses without prefix length. */
  addresses(attachment: AttachmentId): readonly string[];
  /** Values of an attachment that are not in the desired state in VPP and Linux, which are read. */
  faults(attachment: AttachmentId): Promise<readonly string[]>;
  /** Identity of the network namespace at this path; undefined if the path does not exist. */
  namespaceIdentity(path: string): Promise<NamespaceIdentity | undefined>;
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

const MAX_LOGGED_CHARACTERS = 2000;

const noRequest = messageCodec(CNIRequest).canonical({});
const replyCodec = messageCodec(CNIReply);
const statusCodec = messageCodec(StatusReply);

export function cniService(deps: CniServiceDeps): CniService {
  const answered =
    <Request>(what: string, call: Call<Request, CNIReply>): Call<Request, CNIReply> =>
    async (request, signal) => {
      try {
        // the runtime tries again: this may last until the operator acts
        const blocked = deps.state.startBlocked();
        if (blocked) throw blocked;
        // the attachments are known only after the first resync; requests keep their order
        await until(deps.pods.started, signal);
        return await call(request, signal);
      } catch (error) {
        const fields = { ...loggedError(error), request: requestText(request) };
        deps.log.error(fields, `CNI ${what} failed`);
        return failureReply(error);
      }
    };

  /**
   * Another container of the same pod with the same interface name is a sandbox that the runtime has
   * abandoned; its DEL may be late or missing.
   */
  function deleteObsolete(
    added: AddPodPayload,
    known: readonly DeletePodPayload[],
    signal?: AbortSignal,
  ): Promise<unknown>[] {
    return known
      .filter(({ interfaceName }) => interfaceName === added.interfaceName)
      .filter((one) => attachmentId(one) !== deps.pods.idOf(added))
      .map((obsolete) =>
        detach(obsolete, signal).catch((error) =>
          deps.log.warn(
            { err: error, pod: podIdText(obsolete.pod), container: obsolete.containerId },
            'deleting an obsolete attachment failed',
          ),
        ),
      );
  }

  /** Attachments of the pod that are older than this one; none if this one is deleted already. */
  function olderThan(added: AddPodPayload): readonly DeletePodPayload[] {
    const all = deps.pods.attachmentsOf(added.pod);
    const own = deps.pods.idOf(added);
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
      // pushed synchronously: the queue keeps this order, and no later request can intervene
      const obsolete = deleteObsolete(payload, deps.pods.attachmentsOf(payload.pod), signal);
      const added = deps.loop.pushAndWait(AddPod.event(payload), signal);
      const [replies] = await Promise.all([added, ...obsolete]);
      // an attachment whose ADD was still queued is known only now
      await Promise.all(deleteObsolete(payload, olderThan(payload)));
      return addReply(replies);
    }),
    delete: answered('DEL', async (request, signal) => {
      const payload = parseRequest(request, ['container_id']);
      const known = deps.pods.attachments().get(deps.pods.idOf(payload));
      deps.log.debug({ attachment: attachmentId(payload), pod: payload.pod }, 'CNI DEL');
      // A DEL need not name the pod. An unknown container without a pod has nothing to delete, unless
      // its ADD is still queued: then the runtime has named the pod, and its DEL does too.
      const pod = payload.pod.name === '' ? known?.pod : payload.pod;
      if (pod) await detach({ ...payload, pod }, signal);
      return replyCodec.canonical({});
    }),
    check: answered('CHECK', async ({ request, addresses }) => {
      const payload = parseRequest(request ?? noRequest, ['container_id', 'network_namespace']);
      const id = deps.pods.idOf(payload);
      const faults = await attachmentFaults(deps, id, payload.networkNamespace, addresses);
      if (faults.length > 0) throw new CniCheckError(faults.join('; '), { where: id });
      return replyCodec.canonical({});
    }),
    gc: answered('GC', async ({ valid, network }, signal) => {
      const kept = new Set(
        valid.map(({ container_id, interface_name }) =>
          deps.pods.idOf({ containerId: container_id, interfaceName: interface_name }),
        ),
      );
      const attachments = deps.pods.attachments();
      const isOfNetwork = networkFilter(network, valid, [...attachments.values()]);
      const stale = [...attachments].filter(
        ([id, attachment]) => !kept.has(id) && isOfNetwork(attachment),
      );
      if (stale.length > 0)
        deps.log.info(
          { attachments: stale.map(([id]) => id) },
          'CNI GC: deleting attachments that are unknown to the runtime',
        );
      const ends = await Promise.allSettled(
        stale.map(([, attachment]) => detach(attachment, signal)),
      );
      // The response waits for all of them: an earlier disconnect would cancel queued ones.
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

/**
 * Which attachments GC of a network may delete. The network of an adopted attachment is unknown: it may be
 * another one while one is known, or while the runtime knows the container.
 * @param network empty: all of them
 */
function networkFilter(
  network: string,
  valid: GCRequest['valid'],
  attachments: readonly Attachment[],
): (attachment: Attachment) => boolean {
  if (network === '') return () => true;
  const isOnlyNetwork = attachments.every((one) => (one.network ?? network) === network);
  const isKnown = ({ containerId, adopted }: Attachment): boolean =>
    valid.some(({ container_id }) =>
      adopted?.isIdCut ? container_id.startsWith(containerId) : container_id === containerId,
    );
  return (one) =>
    one.network === undefined ? isOnlyNetwork && !isKnown(one) : one.network === network;
}

async function attachmentFaults(
  { pods, state }: CniServiceDeps,
  id: AttachmentId,
  networkNamespace: string,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const attachment = pods.attachments().get(id);
  if (!attachment) return ['the attachment does not exist'];
  const faults: string[] = [];
  const { namespaceIdentity: own } = attachment;
  const other = own && (await state.namespaceIdentity(networkNamespace));
  const isSame = other !== undefined && sameIdentity(other, own);
  // runtimes name a namespace by other paths than those by which an adopted one was found
  if (attachment.networkNamespace !== networkNamespace && !isSame)
    faults.push(`the attachment is in ${attachment.networkNamespace}, not in ${networkNamespace}`);
  else if (pods.isDisplaced(id) || (other && !isSame))
    faults.push(`${networkNamespace} leads to another namespace than when the pod was attached`);
  const owned = state.addresses(id);
  const missing = addresses.filter((address) => !owned.includes(address));
  if (missing.length > 0)
    faults.push(
      `the attachment has ${owned.join(', ') || 'no address'}, not ${missing.join(', ')}`,
    );
  return [...faults, ...(await state.faults(id))];
}

function sameIdentity(a: NamespaceIdentity, b: NamespaceIdentity | undefined): boolean {
  return a.device === b?.device && a.inode === b.inode;
}

/**
 * Only a defect is logged with its stack and what it consists of. An event can fail with many values, and the
 * runtime repeats its call for as long as VPP is disconnected.
 */
function loggedError(error: unknown): object {
  if (isDefect(error)) return { err: error };
  return { error: errorText(error), ...(error instanceof CodedError && { code: error.code }) };
}

/** A request in the log: it may have megabytes. */
function requestText(request: unknown): string {
  return JSON.stringify(request).slice(0, MAX_LOGGED_CHARACTERS);
}

/** Waits for the promise until the signal of the caller is aborted. */
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
