/** From errors of sockets and statuses of replies to the reason and to what helps. */
import { errorText } from '#infra/errors/errors.ts';
import { statusText } from '#infra/http/status-text.ts';
import type { FailureReason, RequestFailure } from './request-failure.ts';

export const remedies: Record<FailureReason, string> = {
  refused:
    'The node is up, but nothing listens on the port. Check the pod contiv-vswitch of the node (kubectl -n kube-system get pods -o wide), and the port: endpoint in http.conf of the agent, --port here.',
  unreachable: 'No route to the node. Check that the node is up, and the network to it.',
  timeout:
    'Check that the node is up and that no firewall drops the port; --timeout waits longer for a busy agent.',
  'unknown-host': 'The name has no address. Write an address, or correct the name.',
  closed:
    'The agent closed the connection. It may have just restarted, or the port expects HTTPS: try --https.',
  tls: 'If the certificate is signed by a private authority, name its file with --ca-file; --insecure accepts any certificate. If the port serves HTTP, leave out --https.',
  socket:
    'Check that the agent runs on this machine. Only root can open its unix socket: run netctl as root there, or name the nodes with --server, --etcd-config or --kubeconfig.',
  unauthorized:
    'The credentials are missing or wrong. Give --user (and the password when asked, or in NETCTL_PASSWORD), --token, or basic-auth in --http-client-config.',
  forbidden:
    'These credentials do not permit it. Routes that change something are served on the unix socket of the node, and on the port only with open-mutating-routes and credentials (docs/rest.md).',
  'not-found':
    'The agent does not know the path or the object. Check the spelling, and the version of the agent with netctl nodes.',
  busy: 'The agent handles too many requests. Try again in a few seconds.',
  status: 'The log of the agent says more (kubectl -n kube-system logs).',
  'invalid-reply':
    'Something else than the agent answers on this port, or its version is too old. Check host and port.',
  'no-address': 'The records of the cluster have no address of this node. Name it with --server.',
};

/** Of the reason `invalid-reply`. */
export const NOT_OF_AGENT = 'the reply is not that of an agent';

export function failure(reason: FailureReason, text: string, status?: number): RequestFailure {
  return { reason, text, remedy: remedies[reason], status };
}

const byCode: Readonly<Record<string, FailureReason>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'unknown-host',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  EPROTO: 'tls',
  // The only header with text of the user is the one with the credentials.
  ERR_INVALID_CHAR: 'unauthorized',
};

const texts: Partial<Record<FailureReason, string>> = {
  refused: 'connection refused',
  unreachable: 'no route to the node',
  timeout: 'no answer in time',
  'unknown-host': 'unknown host name',
  closed: 'connection closed',
  'invalid-reply': 'the reply is not HTTP',
  unauthorized: 'the token has characters that a header cannot have, such as a line end',
};

/** @param isSocket the request went to a unix socket */
export function failureOfError(thrown: unknown, isSocket: boolean): RequestFailure {
  const { code = '' } = thrown as NodeJS.ErrnoException;
  if (isSocket) return failure('socket', `unix socket of the agent: ${socketText(code, thrown)}`);
  const reason = byCode[code] ?? reasonOfOther(code);
  if (reason === undefined) return failure('unreachable', errorText(thrown));
  return failure(reason, texts[reason] ?? `TLS: ${tlsText(code, thrown)}`);
}

function reasonOfOther(code: string): FailureReason | undefined {
  if (code.startsWith('HPE_')) return 'invalid-reply';
  return isTls(code) ? 'tls' : undefined;
}

function socketText(code: string, thrown: unknown): string {
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'ECONNREFUSED') return 'the agent is not running';
  return errorText(thrown);
}

function isTls(code: string): boolean {
  return /^(ERR_(TLS|SSL|OSSL)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_OSSL)/.test(code);
}

function tlsText(code: string, thrown: unknown): string {
  if (/wrong.version.number|packet.length/i.test(`${code} ${errorText(thrown)}`))
    return 'the port serves HTTP';
  return errorText(thrown).replace(/\s+/g, ' ');
}

/** @param body of the reply: `{"Error": "…"}` of an agent, or anything */
export function failureOfStatus(status: number, body: string): RequestFailure {
  const text = statusText(status, body);
  if (status === 401) return failure('unauthorized', text, status);
  if (status === 403) return failure('forbidden', text, status);
  if (status === 404) return failure('not-found', text, status);
  if (status === 429 || status === 503) return failure('busy', text, status);
  return failure('status', text, status);
}
