/** A client of the REST server that sends exactly what a test gives it. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { request as secureRequest } from 'node:https';

export interface Call {
  readonly port?: number;
  /** Instead of the port. */
  readonly socketPath?: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For HTTPS: the authority of the server, and the own certificate. */
  readonly tls?: { readonly ca: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function call({ body, tls, ...options }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { host: '127.0.0.1', agent: false, ...options };
    const sent = tls ? secureRequest({ ...all, ...tls, servername: 'localhost' }) : request(all);
    sent.on('response', (response) => {
      const { headers } = response;
      let text = '';
      // it does not end
      if (headers['content-type']?.startsWith('text/event-stream')) {
        resolve({ status: response.statusCode!, headers, text });
        response.destroy();
        return;
      }
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export function basic(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
