/** Requests of a test to a kube-apiserver: many more a second than kubectl can make. */
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface KubeObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Body {
  readonly type: string;
  readonly content: unknown;
}

export class KubeApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class KubeClient implements Disposable {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  /** @param authority in PEM */
  constructor(url: string, authority: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ ca: authority, keepAlive: true, maxSockets: 16 });
  }

  get<T = unknown>(path: string): Promise<T> {
    return this.#send('GET', path) as Promise<T>;
  }

  /** All objects of a kind, in one request, from etcd. */
  async list<T = KubeObject>(path: string): Promise<T[]> {
    const list = await this.get<{ kind: string; apiVersion: string; items: T[] }>(path);
    const kind = list.kind.replace(/List$/, '');
    // Objects of a list do not name their kind.
    return list.items.map((item) => ({ apiVersion: list.apiVersion, kind, ...item }));
  }

  create(path: string, object: unknown): Promise<unknown> {
    return this.#send('POST', path, { type: 'application/json', content: object });
  }

  replace(path: string, object: unknown): Promise<unknown> {
    return this.#send('PUT', path, { type: 'application/json', content: object });
  }

  /** Merge patch. */
  patch(path: string, change: unknown): Promise<unknown> {
    return this.#send('PATCH', path, { type: 'application/merge-patch+json', content: change });
  }

  /** At once, without a grace period. */
  delete(path: string): Promise<unknown> {
    return this.#send('DELETE', `${path}?gracePeriodSeconds=0`);
  }

  /** Deletes each object of a list. */
  async deleteAll(path: string): Promise<void> {
    for (const { metadata } of await this.list(path)) await this.delete(`${path}/${metadata.name}`);
  }

  async #send(method: string, path: string, body?: Body): Promise<unknown> {
    const answer = await this.#answer(method, path, body);
    const content = await text(answer);
    const status = answer.statusCode ?? 0;
    if (status >= 300) throw new KubeApiError(status, `${method} ${path}: ${status} ${content}`);
    return answer.headers['content-type']?.startsWith('application/json')
      ? JSON.parse(content)
      : content;
  }

  #answer(method: string, path: string, body: Body | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#token}`,
        ...(body && { 'content-type': body.type }),
      };
      const url = new URL(path, this.#url);
      const sent = request(url, { method, headers, agent: this.#agent, timeout: 30_000 }, resolve);
      sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body.content));
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
