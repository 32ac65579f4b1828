/**
 * The CNI service over gRPC: `cni.RemoteCNI` of the original, and `cni.CNIState`.
 *
 * A request that failed is answered with an error status: the original contiv-cni reads nothing else.
 * Other clients find the reply with its `result` in the trailer `cni-reply-bin`.
 */
import { type handleUnaryCall, Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';
import { errorText } from '#infra/errors/errors.ts';
import { type ConnectionServer, grpcConnectionServer } from '#infra/grpc/connection-server.ts';
import type { GrpcLimits } from '#infra/grpc/endpoint.ts';
import type { Logger } from '#infra/log/log.ts';
import { CNIReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { methodDefinition } from '#models/method-definition.ts';
import { FAILED_REPLY_TRAILER } from './api.ts';
import { cniResults } from './cni-failure.ts';
import { type CniService, cniMethods } from './cni-service.ts';

/** For servers and clients of grpc-js. */
export const cniServiceDefinition = {
  Add: methodDefinition(cniMethods.add),
  Delete: methodDefinition(cniMethods.delete),
  Check: methodDefinition(cniMethods.check),
  GC: methodDefinition(cniMethods.gc),
  Status: methodDefinition(cniMethods.status),
} as const;

/** Node.js sends at most 64 KiB of trailers; a character may become 13 bytes. */
const MAX_ERROR_CHARACTERS = 4096;

const replyCodec = messageCodec(CNIReply);

export function grpcServer(
  service: CniService,
  log: Logger,
  limits?: GrpcLimits,
): ConnectionServer {
  const implementation = {
    Add: unary(service.add, log),
    Delete: unary(service.delete, log),
    Check: unary(service.check, log),
    GC: unary(service.gc, log),
    Status: unary(service.status, log),
  };
  return grpcConnectionServer([{ definition: cniServiceDefinition, implementation }], limits);
}

function unary<Request, Response extends object>(
  call: (request: Request, signal: AbortSignal) => Promise<Response>,
  log: Logger,
): handleUnaryCall<Request, Response> {
  return (given, callback) => {
    const controller = new AbortController();
    given.on('cancelled', () => controller.abort(new Error('the caller has disconnected')));
    call(given.request, controller.signal).then(
      (answer) => {
        if (isFailure(answer)) callback(errorStatus(answer));
        else callback(null, answer);
      },
      (error) => {
        log.error({ err: error }, 'CNI call failed with an unexpected error');
        callback({ code: status.INTERNAL, details: errorText(error) });
      },
    );
  };
}

function isFailure(answer: object): answer is CNIReply {
  return 'result' in answer && answer.result !== cniResults.success;
}

function errorStatus(reply: CNIReply): ServerErrorResponse {
  const error = reply.error.slice(0, MAX_ERROR_CHARACTERS);
  const metadata = new Metadata();
  metadata.set(FAILED_REPLY_TRAILER, Buffer.from(replyCodec.encodeWire({ ...reply, error })));
  return { name: 'CniError', message: error, code: codeOf(reply.result), details: error, metadata };
}

/** The original answers UNKNOWN to all failures. */
function codeOf(result: number): status {
  if (result === cniResults.invalidRequest) return status.INVALID_ARGUMENT;
  if (result === cniResults.tryAgainLater) return status.UNAVAILABLE;
  return status.UNKNOWN;
}
