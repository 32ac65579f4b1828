/**
 * Calls to the agent: JSON over HTTP/1.1, one call per connection, on a plain socket. This program
 * runs for one call and spends most of its time loading code: node:http alone would add a third of
 * the time of an empty program.
 */
import { connect } from 'node:net';
import type { CheckRequest, CNIRequest, GCRequest, StatusReply } from '#models/cni/cni.gen.ts';
import { CniError } from './cni-error.ts';
import type { Reply } from './result.ts';

/** Requests by the path of their call; omitted fields are empty. */
interface Calls {
  readonly '/cni.RemoteCNI/Add': { request: Partial<CNIRequest>; reply: Reply };
  readonly '/cni.RemoteCNI/Delete': { request: Partial<CNIRequest>; reply: Reply };
  readonly '/cni.CNIState/Check': {
    request: { request: Partial<CNIRequest>; addresses: CheckRequest['addresses'] };
    reply: Reply;
  };
  readonly '/cni.CNIState/GC': { request: GCRequest; reply: Reply };
  readonly '/cni.CNIState/Status': { request: object; reply: Partial<StatusReply> };
}

/** Milliseconds of silence after which a call fails; the runtime retries it. */
const limits: Readonly<Record<keyof Calls, number>> = {
  // Below the two minutes after which kubelet cancels its own call.
  '/cni.RemoteCNI/Add': 100_000,
  '/cni.RemoteCNI/Delete': 100_000,
  '/cni.CNIState/Check': 30_000,
  '/cni.CNIState/GC': 100_000,
  '/cni.CNIState/Status': 10_000,
};

/** Limit of a reply; real ones have at most a few hundred bytes. */
const MAX_REPLY_BYTES = 1 << 20;

/**
 * @param server path of a unix socket, or `host:port`
 * @throws CniError `later` when the agent is unreachable or does not reply in time, `io` for an
 *   invalid reply
 */
export async function callAgent<Path extends keyof Calls>(
  server: string,
  path: Path,
  request: Calls[Path]['request'],
): Promise<Calls[Path]['reply']> {
  const { status, body } = await exchange(server, path, JSON.stringify(request));
  const reply = readObject(body);
  if (!reply) throw new CniError('io', `${server} sent an invalid reply`, body.slice(0, 200));
  // The reply to a request that failed has an error status, too.
  if (status !== 200 && !('result' in reply))
    throw new CniError('refused', String(reply['message']), `HTTP status ${status}`);
  return reply;
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function exchange(
  server: string,
  path: keyof Calls,
  request: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const socket = connect(target(server));
  const limit = limits[path];
  let bytes: Buffer = Buffer.alloc(0);
  // Uses the timeout of the socket: this program runs for one call and has no injected clock.
  socket.setTimeout(limit, () =>
    socket.destroy(new CniError('later', `no reply from the agent within ${limit / 1000} s`)),
  );
  socket.on('connect', () =>
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: agent\r\nconnection: close\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(request)}\r\n\r\n` +
        request,
    ),
  );
  socket.on('data', (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    const answer = parseReply(bytes);
    if (answer) {
      // That the agent hangs up need not be waited for.
      resolve(answer);
      socket.destroy();
    } else if (bytes.length > MAX_REPLY_BYTES)
      socket.destroy(new CniError('io', 'the answer has no end'));
  });
  socket.on('error', (error) =>
    reject(
      error instanceof CniError
        ? error
        : new CniError('later', `the agent is unreachable at ${server}`, error.message),
    ),
  );
  socket.on('close', () => {
    // The agent was stopped or killed during the call. After a reply this has no effect.
    reject(new CniError('later', `the agent at ${server} closed the connection without a reply`));
  });
  return promise;
}

function target(server: string) {
  if (server.includes('/')) return { path: server.replace(/^unix:(\/\/)?/, '') };
  const colon = server.lastIndexOf(':');
  const host = server.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(server.slice(colon + 1)) };
}

/** @returns undefined when the reply is incomplete */
function parseReply(bytes: Buffer): { readonly status: number; readonly body: string } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  const body = bytes.subarray(end + 4);
  if (!status || !length || body.length < Number(length[1])) return undefined;
  return { status: Number(status[1]), body: body.toString('utf8', 0, Number(length[1])) };
}
