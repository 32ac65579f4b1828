/** Why another node has not answered, with what to do for who reads it on the page of this one. */
import { defineError } from '#infra/errors/errors.ts';
import { failure, type RouteResponse } from '#infra/http/route.ts';
import { type FailureReason, RequestError } from '#netctl/requests/request-failure.ts';

/** This agent has asked the one of another node for a client, and has no answer of it. */
export const OtherNodeError = defineError({
  name: 'OtherNodeError',
  code: 'CV_OTHER_NODE',
  status: 502,
  isRetriable: true,
  remedy: 'The text names the node and the reason; docs/ui.md says for each what to do.',
});

const remedies: Readonly<Record<FailureReason, string>> = {
  refused:
    'Check the pod contiv-vswitch of the node, and that endpoint in http.conf has the port of this node there, too, and is no loopback address.',
  unreachable: 'Check that the node is up, and the network between the nodes.',
  timeout: 'Check that the node is up, and that no firewall between the nodes drops the port.',
  'unknown-host': 'Correct the address of the Node object.',
  closed: 'The agent restarts, or expects HTTPS, which all agents of a cluster need alike.',
  tls: 'Give all agents one certificate, or certificates for their addresses of one authority, whose file is among client-cert-files or in server-cert-file.',
  socket: 'Check that the agent of the node runs.',
  unauthorized:
    'Give all agents the same users, and the same sign-key, so that they accept the credentials of each other.',
  forbidden: 'Your user does not have the permission there, or the node serves it only to users.',
  'not-found': 'Upgrade the agent of the node: it does not have this document.',
  busy: 'The agent has too many requests: wait some seconds.',
  status: 'The log of the agent says more (kubectl -n kube-system logs).',
  'invalid-reply': 'Another program has the port, or the agent has another release: upgrade it.',
  'no-address':
    'Check the addresses of the Node object: none of them can be that of another host (docs/networking.md).',
};

/** In the document about the cluster. */
export function failureDocument({ failure: { reason, text } }: RequestError): {
  readonly reason: FailureReason;
  readonly text: string;
  readonly remedy: string;
} {
  return { reason, text, remedy: remedies[reason] };
}

/** Refusals of the other agent that are those of the document itself. */
const passedOn: ReadonlySet<number> = new Set([400, 403, 404, 409, 503]);

/** @throws OtherNodeError, and what is no failure of a request */
export function refusal(thrown: unknown): RouteResponse {
  if (!(thrown instanceof RequestError)) throw thrown;
  const { reason, text, status = 0 } = thrown.failure;
  if (passedOn.has(status)) return failure(status, `${thrown.where}: ${text}`);
  throw new OtherNodeError(`${text}. ${remedies[reason]}`, {
    where: thrown.where ?? '',
    cause: thrown,
  });
}
