export interface ApiRequest {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** JSON: a merge patch with the method PATCH. */
  readonly body?: string;
}

export interface ApiResponse {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  /** Ends only at the end that the server declared: a connection that closes before it is an error. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests to the API server, with its address and the credentials. */
export interface ApiTransport {
  /** @throws CodedError when there is no response; an abort of the signal ends the body, too */
  send(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse>;
}
