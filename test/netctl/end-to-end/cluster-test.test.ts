/** Namespaces that a test of a cluster leaves, against an API server that keeps requests alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import type { ApiRequest, ApiTransport } from '#ksr/api-server/transport.ts';
import type { CommandContext } from '#netctl/command.ts';
import { testCluster } from '#netctl/end-to-end/cluster-test.ts';
import { KubernetesApi } from '#netctl/nodes/kubernetes-api.ts';

const NAMESPACES = '/api/v1/namespaces';
const labels = { 'app.kubernetes.io/managed-by': 'netctl-test' };
const LONG_AGO = '2020-01-01T00:00:00Z';

class KeptRequests implements ApiTransport {
  readonly requests: ApiRequest[] = [];
  readonly namespaces = new Map<string, string | undefined>();
  /** Called before each answer. */
  onRequest: (request: ApiRequest) => void = () => undefined;

  async send(request: ApiRequest, signal: AbortSignal) {
    this.requests.push(request);
    const [status, document] = this.#answer(request);
    this.onRequest(request);
    signal.throwIfAborted();
    const body = (async function* () {
      yield Buffer.from(JSON.stringify(document));
    })();
    return { status, retryAfter: undefined, body };
  }

  #answer({ method, path, body }: ApiRequest): [number, object] {
    const name = path.slice(NAMESPACES.length + 1);
    if (path === NAMESPACES && method === 'GET') {
      const items = [...this.namespaces].map(([name, creationTimestamp]) => ({
        metadata: { name, labels, creationTimestamp },
      }));
      return [200, { items }];
    }
    if (path === NAMESPACES) {
      const { metadata } = JSON.parse(body!) as { metadata: { name: string } };
      this.namespaces.set(metadata.name, new Date().toISOString());
      return [201, {}];
    }
    if (method === 'DELETE') return [this.namespaces.delete(name) ? 200 : 404, {}];
    if (method === 'GET' && !name.includes('/')) return [this.namespaces.has(name) ? 200 : 404, {}];
    return method === 'POST' ? [201, { spec: { clusterIP: '10.96.0.9' } }] : [200, { items: [] }];
  }
}

function run(server: KeptRequests, signal: AbortSignal, warn: (text: string) => void) {
  const context = {
    clock: systemClock,
    signal,
    progress: () => undefined,
    warn,
  } as unknown as CommandContext;
  const kubernetes = new KubernetesApi(server, 5_000, systemClock);
  return testCluster(context, { kubernetes, nodes: ['node1'], image: 'test' });
}

describe('netctl test in a cluster', () => {
  it('removes its namespace whenever the user ends it', async () => {
    const ends = ['/namespaces', '/networkpolicies', '/services', '/pods'] as const;
    for (const end of ends) {
      const server = new KeptRequests();
      const stop = new AbortController();
      server.onRequest = ({ method, path }) => {
        if (method === 'POST' && path.endsWith(end)) stop.abort(new Error('ended by the user'));
      };
      const warned: string[] = [];
      const result = run(server, stop.signal, (text) => warned.push(text));
      await assert.rejects(result, /ended by the user/);
      assert.deepEqual([...server.namespaces.keys()], [], end);
      assert.deepEqual(warned, [], end);
    }
  });

  it('removes what killed tests have left, and no namespace of others', async () => {
    const server = new KeptRequests();
    const now = new Date().toISOString();
    for (const [name, created] of [
      ['netctl-test-11111111', LONG_AGO],
      // another test runs
      ['netctl-test-22222222', now],
      ['netctl-test-33333333', undefined],
      // it has the label by mistake
      ['production', LONG_AGO],
    ] as const)
      server.namespaces.set(name, created);
    const stop = new AbortController();
    server.onRequest = ({ path }) => {
      if (path.endsWith('/networkpolicies')) stop.abort(new Error('ended by the user'));
    };
    await assert.rejects(
      run(server, stop.signal, () => undefined),
      /ended by the user/,
    );
    const left = [...server.namespaces.keys()];
    assert.deepEqual(left, ['netctl-test-22222222', 'netctl-test-33333333', 'production']);
  });
});
