import { CodedError, defineError, type ErrorDetails } from '#infra/errors/errors.ts';

export const KubeConfigError = defineError({
  name: 'KubeConfigError',
  code: 'CV_KSR_KUBE_CONFIG',
  rejects: 'configuration',
  remedy:
    'Name a readable kubeconfig file with --kube-config, or run in a pod with a service account.',
});

export const ApiCredentialsError = defineError({
  name: 'ApiCredentialsError',
  code: 'CV_KSR_API_CREDENTIALS',
  isRetriable: true,
  remedy: 'Run the command of the credential plugin that the kubeconfig names: it does not end.',
});

export const ApiUnreachableError = defineError({
  name: 'ApiUnreachableError',
  code: 'CV_KSR_API_UNREACHABLE',
  isRetriable: true,
  remedy: 'Check that the Kubernetes API server runs and that its address can be reached.',
});

export const ApiCertificateError = defineError({
  name: 'ApiCertificateError',
  code: 'CV_KSR_API_CERTIFICATE',
  remedy:
    'Check the certificate authority, the server name and the client certificate of the kubeconfig.',
});

export const ApiUnauthorizedError = defineError({
  name: 'ApiUnauthorizedError',
  code: 'CV_KSR_API_UNAUTHORIZED',
  remedy: 'Check the token or client certificate; both are read again before each attempt.',
});

export const ApiForbiddenError = defineError({
  name: 'ApiForbiddenError',
  code: 'CV_KSR_API_FORBIDDEN',
  remedy: 'Allow the service account to list and watch the kind, in its ClusterRole.',
});

export const ApiNotFoundError = defineError({
  name: 'ApiNotFoundError',
  code: 'CV_KSR_API_NOT_FOUND',
  remedy: 'Install the custom resource definition if the kind is needed.',
});

/** The resource version or the continue token is older than the history of the API server. */
export const VersionExpiredError = defineError({
  name: 'VersionExpiredError',
  code: 'CV_KSR_VERSION_EXPIRED',
  isRetriable: true,
  remedy: 'None: all objects of the kind are listed again.',
});

export const ApiResponseError = defineError({
  name: 'ApiResponseError',
  code: 'CV_KSR_API_RESPONSE',
  isRetriable: true,
  remedy:
    'None if it is rare: the request is repeated. Otherwise check the proxies before the API server.',
});

/** The server is overloaded, starts, or failed inside. */
export class ApiBusyError extends CodedError {
  readonly code = 'CV_KSR_API_BUSY';
  readonly remedy =
    'None if it is rare: the request is repeated. Otherwise read the log of the API server.';
  override readonly name = 'ApiBusyError';
  /** Pause before the next request that the server asks for, in milliseconds; 0 if it does not. */
  readonly pauseMs: number;

  constructor(message: string, details: ErrorDetails & { readonly pauseMs: number }) {
    super(message, details);
    this.pauseMs = details.pauseMs;
  }

  override get isRetriable(): boolean {
    return true;
  }
}

const classOfStatus = new Map([
  [401, ApiUnauthorizedError],
  [403, ApiForbiddenError],
  [404, ApiNotFoundError],
  [410, VersionExpiredError],
]);

/** The error of an HTTP status, or of the code in a `Status` object. */
export function statusError(
  status: number,
  message: string,
  where: string,
  pauseMs = 0,
): CodedError {
  const text = `the API server answered ${status}${message && `: ${message}`}`;
  const ErrorClass = classOfStatus.get(status);
  return ErrorClass ? new ErrorClass(text, { where }) : new ApiBusyError(text, { where, pauseMs });
}

const CERTIFICATE_CODES =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$|INVALID_CA$|HOSTNAME_MISMATCH$)/;

/** The error of a request or a response body that broke off. */
export function connectionError(thrown: unknown, where: string): CodedError {
  if (thrown instanceof CodedError) return thrown;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const ErrorClass = CERTIFICATE_CODES.test(code) ? ApiCertificateError : ApiUnreachableError;
  return new ErrorClass(connectionText(thrown), { where, cause: thrown });
}

/** Node.js leaves the message empty when each address of a name failed. */
function connectionText(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(connectionText).join('; ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}
