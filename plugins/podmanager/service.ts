/**
 * The CNI service without its transport: turns requests into events and replies of handlers into
 * answers. Whatever goes wrong is answered with result 1 and a text, as the CNI plugin expects it.
 */
import type { EventLoop } from '#eventloop/handler.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { CNIReply, type CNIRequest } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import {
  AddPod,
  type AddPodPayload,
  type AddPodReply,
  attachmentId,
  DeletePod,
  podIdText,
} from './api.ts';
import type { PodManager } from './plugin.ts';
import { parseRequest } from './request.ts';

export interface CniServiceDeps {
  readonly loop: EventLoop;
  readonly pods: Pick<PodManager, 'attachmentsOf' | 'started'>;
  readonly log: Logger;
}

type Call = (request: CNIRequest, signal?: AbortSignal) => Promise<CNIReply>;

export interface CniService {
  readonly add: Call;
  readonly delete: Call;
}

const replyCodec = messageCodec(CNIReply);
const failed = 1;

export function cniService(deps: CniServiceDeps): CniService {
  const answered =
    (what: string, call: (request: CNIRequest, signal?: AbortSignal) => Promise<CNIReply>): Call =>
    async (request, signal) => {
      try {
        // what pods are attached is known only then; requests keep their order across it
        await until(deps.pods.started, signal);
        return await call(request, signal);
      } catch (error) {
        deps.log.error({ err: error, container: request.container_id }, `CNI ${what} failed`);
        return replyCodec.canonical({ result: failed, error: errorText(error) });
      }
    };

  /**
   * Another container of the same pod under the same interface name is a sandbox that the runtime
   * has given up; its DEL may come late or never.
   */
  function deleteObsolete(added: AddPodPayload, signal?: AbortSignal): Promise<unknown>[] {
    return deps.pods
      .attachmentsOf(added.pod)
      .filter(({ interfaceName }) => interfaceName === added.interfaceName)
      .filter(({ containerId }) => containerId !== added.containerId)
      .map(({ containerId, interfaceName, pod }) =>
        deps.loop
          .pushAndWait(DeletePod.event({ pod, containerId, interfaceName }), signal)
          .catch((error) =>
            deps.log.warn(
              { err: error, pod: podIdText(pod), container: containerId },
              'obsolete attachment could not be deleted cleanly',
            ),
          ),
      );
  }

  return {
    add: answered('ADD', async (request, signal) => {
      const payload = parseRequest(request, ['container_id', 'network_namespace']);
      deps.log.debug({ attachment: attachmentId(payload), pod: payload.pod }, 'CNI ADD');
      // all in one go: the queue keeps this order, and no later request comes in between
      const obsolete = deleteObsolete(payload, signal);
      const added = deps.loop.pushAndWait(AddPod.event(payload), signal);
      const [replies] = await Promise.all([added, ...obsolete]);
      return addReply(replies);
    }),
    delete: answered('DEL', async (request, signal) => {
      const payload = parseRequest(request, ['container_id']);
      const { pod, containerId, interfaceName } = payload;
      deps.log.debug({ attachment: attachmentId(payload), pod }, 'CNI DEL');
      await deps.loop.pushAndWait(DeletePod.event({ pod, containerId, interfaceName }), signal);
      return replyCodec.canonical({});
    }),
  };
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
