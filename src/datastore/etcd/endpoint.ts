import {
  type CallOptions,
  Channel,
  type ChannelCredentials,
  type Client,
  connectivityState,
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
import { isTimeout } from './errors.ts';
import { channelOptions } from './options.ts';

type Unary = (
  request: unknown,
  metadata: Metadata,
  options: CallOptions,
  callback: (error: ServiceError | null, reply: unknown) => void,
) => void;

/** One connection to a member, for all of its services. */
class Connection extends Host {
  /** Calls that were answered. */
  replies = 0;
  readonly #channel: Channel;

  constructor(address: string, credentials: ChannelCredentials) {
    const channel = new Channel(address, credentials, channelOptions);
    super(address, credentials, { channelOverride: channel });
    this.#channel = channel;
  }

  get isEstablished(): boolean {
    return this.#channel.getConnectivityState(false) === connectivityState.READY;
  }
}

/**
 * One member of an etcd cluster. It replaces etcd3's connection pool, which retries transactions by
 * itself, rejects all calls for seconds after three failures, and has no deadlines; here a call is
 * sent once and has a deadline. A connection on which a call has no answer, and no other one since, may be
 * broken without a sign of it: the next calls use another connection.
 */
export class Endpoint implements ICallable<Connection> {
  readonly address: string;
  readonly kv: KVClient;
  readonly watch: WatchClient;
  readonly lease: LeaseClient;
  readonly callOptionsFactory = undefined;
  readonly #certificates: Certificates;
  readonly #deadline: CallOptions;
  #credentials: ChannelCredentials;
  #connection: Connection;
  #closed = false;

  constructor(
    address: string,
    certificates: Certificates,
    clock: Clock,
    operationTimeoutMs: number,
  ) {
    this.address = address;
    this.#certificates = certificates;
    this.#credentials = certificates.credentials;
    this.#connection = new Connection(address, this.#credentials);
    this.#deadline = { interceptors: [deadline(clock, operationTimeoutMs)] };
    this.kv = new KVClient(this);
    this.watch = new WatchClient(this);
    this.lease = new LeaseClient(this);
  }

  /** Identifies the connection that the next call uses. */
  get connection(): object {
    return this.#connection;
  }

  exec<T>(service: keyof typeof Services, method: string, request: unknown): Promise<T> {
    const connection = this.#connection;
    const { replies } = connection;
    const client = connection.getServiceClient(service);
    const call = (client as unknown as Record<string, Unary>)[method]!;
    return new Promise((resolve, reject) => {
      call.call(client, request, new Metadata(), this.#deadline, (error, reply) => {
        if (isTimeout(error)) {
          // A connection that is still being established, on a slow machine, would only begin again.
          if (connection.isEstablished && connection.replies === replies) this.#replace(connection);
        } else connection.replies++;
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
    action: (connection: {
      resource: Connection;
      client: Client;
      metadata: Metadata;
    }) => Promise<R> | R,
  ): Promise<R> {
    const client = this.#connection.getServiceClient(service);
    return await action({ resource: this.#connection, client, metadata: new Metadata() });
  }

  /** gRPC reconnects by itself. */
  markFailed(): void {}

  close(): void {
    this.#closed = true;
    this.#connection.close();
  }

  /** Connects with the certificates that are in the files now: those of this connection may have expired. */
  #renew(): void {
    this.#certificates.refresh();
    if (this.#certificates.credentials === this.#credentials) return;
    this.#credentials = this.#certificates.credentials;
    this.#replace(this.#connection);
  }

  /** Calls in progress keep their connection until they end. */
  #replace(connection: Connection): void {
    if (this.#closed || connection !== this.#connection) return;
    this.#connection = new Connection(this.address, this.#credentials);
    connection.close();
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
