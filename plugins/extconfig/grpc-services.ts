/** The services of the original for external configuration: `rpc.DataChangeService`, `rpc.DataResyncService`. */
import type { handleUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import type { Clock } from '#infra/clock/clock.ts';
import type { GrpcService } from '#infra/grpc/connection-server.ts';
import type { Logger } from '#infra/log/log.ts';
import { DataChangeServiceService, DataResyncServiceService } from '#models/rpc/rpc.gen.ts';
import type { ConfigWriter, Failures } from './config-writer.ts';
import {
  type ConfigItem,
  type ReadRequest,
  RepeatedItemError,
  readDataRequest,
} from './data-request.ts';
import { itemErrorStatus, requestErrorStatus } from './item-errors.ts';
import type { RequestMetrics } from './metrics.ts';

export interface ExternalConfigServiceDeps {
  readonly writer: ConfigWriter;
  readonly metrics: Pick<RequestMetrics, 'count'>;
  readonly clock: Clock;
  readonly log: Logger;
}

type Method = 'Put' | 'Del' | 'Resync';
/** The replies of all methods are messages without fields. */
type Handler = handleUnaryCall<Buffer, Buffer>;

const empty = Buffer.alloc(0);
const bytes = (content: Buffer): Buffer => content;

/** The handlers get the bytes of the request: they read each item on its own. */
const method = ({ path }: { readonly path: string }) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});

export const changeDefinition: ServiceDefinition = {
  Put: method(DataChangeServiceService.Put),
  Del: method(DataChangeServiceService.Del),
};

export const resyncDefinition: ServiceDefinition = {
  Resync: method(DataResyncServiceService.Resync),
};

export function externalConfigServices(deps: ExternalConfigServiceDeps): readonly GrpcService[] {
  const handler =
    (name: Method): Handler =>
    (call, callback) => {
      const controller = new AbortController();
      call.on('cancelled', () => controller.abort());
      void answer(deps, name, call.request, controller.signal, callback);
    };
  return [
    { definition: changeDefinition, implementation: { Put: handler('Put'), Del: handler('Del') } },
    { definition: resyncDefinition, implementation: { Resync: handler('Resync') } },
  ];
}

async function answer(
  { writer, metrics, clock, log }: ExternalConfigServiceDeps,
  name: Method,
  request: Buffer,
  signal: AbortSignal,
  callback: sendUnaryData<Buffer>,
): Promise<void> {
  try {
    const read = await readDataRequest(request, name === 'Del' ? 'delete' : 'put', clock);
    const failures = await apply(writer, name, read, signal);
    const { items, refused } = read;
    const failed = failedItems(items, failures);
    const total = items.length + refused.length;
    const isComplete = refused.length === 0 && failed.length === 0;
    metrics.count(name, isComplete ? 'ok' : 'incomplete');
    if (isComplete) {
      callback(null, empty);
      return;
    }
    log.warn(
      { method: name, items: total, refused: refused.length, failed: failed.length },
      'some items of external configuration were not applied',
    );
    const note = name === 'Resync' && keepsOthers(read) ? ', therefore none was removed' : '';
    callback(itemErrorStatus(refused, failed, total, note));
  } catch (error) {
    metrics.count(name, 'failed');
    log.warn({ method: name, err: error }, 'a request for external configuration failed');
    callback(requestErrorStatus(error));
  }
}

function apply(
  writer: ConfigWriter,
  name: Method,
  read: ReadRequest,
  signal: AbortSignal,
): Promise<Failures> {
  if (name === 'Put') return writer.put(read.items, signal);
  if (name === 'Del') return writer.delete(read.items, signal);
  return writer.resync(read.items, keepsOthers(read), signal);
}

/** An item that the agent cannot read may be one that it has: nothing is removed on a guess. */
function keepsOthers({ refused }: ReadRequest): boolean {
  return refused.some(({ error }) => !(error instanceof RepeatedItemError));
}

function failedItems(items: readonly ConfigItem[], failures: Failures) {
  return items.flatMap(({ name, key }) => {
    const error = failures.get(key);
    return error ? [{ name, key, error }] : [];
  });
}
