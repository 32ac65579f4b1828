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
import type { Certificates } from './certificates.ts';

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
  readonly #certificates: Certificates;
  readonly #channel: ChannelOptions;
  readonly #deadline: CallOptions;
  #credentials: ChannelCredentials;
  #host: Host;
  #closed = false;

  constructor(
    address: string,
    certificates: Certificates,
    channel: ChannelOptions,
    clock: Clock,
    operationTimeoutMs: number,
  ) {
    this.address = address;
    this.#certificates = certificates;
    this.#channel = channel;
    this.#credentials = certificates.credentials;
    this.#host = new Host(address, this.#credentials, channel);
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
        if (!error) {
          resolve(reply as T);
          return;
        }
        if (error.code === status.UNAVAILABLE) this.#renew();
        reject(error);
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
    this.#closed = true;
    this.#host.close();
  }

  /** Connects with the certificates that are in the files now: those of this connection may have expired. */
  #renew(): void {
    this.#certificates.refresh();
    if (this.#closed || this.#certificates.credentials === this.#credentials) return;
    this.#credentials = this.#certificates.credentials;
    this.#host.close();
    this.#host = new Host(this.address, this.#credentials, this.#channel);
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
