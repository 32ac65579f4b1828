import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  InterceptingCall,
  type Interceptor,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { type ICallable, KVClient, LeaseClient, type Services, WatchClient } from 'etcd3';
import { Host } from 'etcd3/lib/connection-pool.js';
import type { Clock } from '#infra/clock/clock.ts';

type Unary = (
  request: unknown,
  metadata: Metadata,
  options: CallOptions,
  callback: (error: ServiceError | null, reply: unknown) => void,
) => void;

/**
 * One member of an etcd cluster. It replaces etcd3's connection pool, which retries transactions by
 * itself, rejects all calls for seconds after three failures, and has no deadlines; here a call is
 * sent once and has a deadline.
 */
export class Endpoint implements ICallable<Host> {
  readonly address: string;
  readonly kv: KVClient;
  readonly watch: WatchClient;
  readonly lease: LeaseClient;
  readonly callOptionsFactory = undefined;
  readonly #host: Host;
  readonly #deadline: CallOptions;

  constructor(
    address: string,
    credentials: ChannelCredentials,
    options: ChannelOptions,
    clock: Clock,
    operationTimeoutMs: number,
  ) {
    this.address = address;
    this.#host = new Host(address, credentials, options);
    this.#deadline = { interceptors: [deadline(clock, operationTimeoutMs)] };
    this.kv = new KVClient(this);
    this.watch = new WatchClient(this);
    this.lease = new LeaseClient(this);
  }

  exec<T>(service: keyof typeof Services, method: string, request: unknown): Promise<T> {
    const client = this.#host.getServiceClient(service);
    const call = (client as unknown as Record<string, Unary>)[method]!;
    return new Promise((resolve, reject) => {
      call.call(client, request, new Metadata(), this.#deadline, (error, reply) => {
        if (error) reject(error);
        else resolve(reply as T);
      });
    });
  }

  async withConnection<R>(
    service: keyof typeof Services,
    action: (connection: { resource: Host; client: Client; metadata: Metadata }) => Promise<R> | R,
  ): Promise<R> {
    const client = this.#host.getServiceClient(service);
    return await action({ resource: this.#host, client, metadata: new Metadata() });
  }

  /** gRPC reconnects by itself. */
  markFailed(): void {}

  close(): void {
    this.#host.close();
  }
}

/**
 * Cancels a call after a time on the injected clock. gRPC's own deadlines are wall-clock times, which
 * are wrong after the machine's clock is set.
 */
function deadline(clock: Clock, ms: number): Interceptor {
  return (options, nextCall) => {
    const call: InterceptingCall = new InterceptingCall(nextCall(options), {
      start(metadata, _listener, next) {
        const timer = clock.timer(ms, () =>
          call.cancelWithStatus(status.DEADLINE_EXCEEDED, `no reply within ${ms} ms`),
        );
        next(metadata, {
          onReceiveStatus(received, pass) {
            timer.cancel();
            pass(received);
          },
        });
      },
    });
    return call;
  };
}
