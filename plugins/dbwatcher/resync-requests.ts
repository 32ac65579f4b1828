import { type ResyncRequest, ResyncRequestQueueFullError } from './api.ts';

/** Maximum number of pending requests. */
const MAX_PENDING = 10;

interface PendingRequest extends ResyncRequest {
  resolve(): void;
  reject(reason: Error): void;
}

/** The requests that one read of the database serves. They end with this read, also if it fails. */
export interface ServedRequests extends ResyncRequest {
  /** @param failure undefined: the resync was pushed to the event loop */
  end(failure: Error | undefined): void;
}

/** Resync requests that wait for the next read of the database. */
export class ResyncRequests {
  #pending: PendingRequest[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /**
   * Adds a request.
   * @returns resolves when a resync was pushed to the event loop; rejects with the reason why not
   * @throws ResyncRequestQueueFullError
   */
  add({ acceptEmpty }: ResyncRequest): Promise<void> {
    if (this.#pending.length >= MAX_PENDING)
      throw new ResyncRequestQueueFullError('queue with resync requests is full');
    return new Promise((resolve, reject) => {
      this.#pending.push({ acceptEmpty, resolve, reject });
    });
  }

  /** Removes and returns all requests: the read that begins now serves them. */
  take(): ServedRequests {
    const served = this.#pending;
    this.#pending = [];
    return {
      acceptEmpty: served.some(({ acceptEmpty }) => acceptEmpty),
      end: (failure) => {
        for (const request of served)
          if (failure) request.reject(failure);
          else request.resolve();
      },
    };
  }
}
