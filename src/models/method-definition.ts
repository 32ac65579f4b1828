import { messageCodec, type ServiceMethod } from './message.ts';

/** A method without streams, for servers and clients of grpc-js. */
export function methodDefinition<Request extends object, Response extends object>({
  path,
  request,
  response,
}: ServiceMethod<Request, Response>) {
  const requests = messageCodec(request);
  const responses = messageCodec(response);
  return {
    path,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: (value: Request) => Buffer.from(requests.encodeWire(value)),
    requestDeserialize: (bytes: Buffer) => requests.decodeWire(bytes, path),
    responseSerialize: (value: Response) => Buffer.from(responses.encodeWire(value)),
    responseDeserialize: (bytes: Buffer) => responses.decodeWire(bytes, path),
  };
}
