/** An API server with ClusterNetworkPolicies alone, without a connection, and the writer of their status. */
import type { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ApiServer, KindHandlers, KindWatch } from '#ksr/api-server/api.ts';
import { statusError } from '#ksr/api-server/api-errors.ts';
import { ClusterPolicyStatusWriter } from '#ksr/cluster-policy-status.ts';
import { recordTexts } from '#ksr/records/record-text.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import type { EnforcingCluster } from './enforcing-cluster.ts';

export const policyTexts = recordTexts(resources.clusternetworkpolicy, REFLECTOR_PREFIX, 'own');

export function clusterPolicyStatus({
  api,
  clock,
  cluster,
}: {
  api: ApiServer;
  clock: ManualClock;
  cluster: EnforcingCluster;
}): ClusterPolicyStatusWriter {
  const enforcement = cluster.enforcement(clock);
  const deps = { apiServer: api, texts: policyTexts, enforcement, clock, log: silentLogger };
  return new ClusterPolicyStatusWriter(deps);
}

export interface Policy {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: object;
  readonly status?: { readonly conditions: readonly Record<string, unknown>[] };
}

/** Serves one version of the API. */
export class StubApiServer implements ApiServer {
  readonly objects = new Map<string, Policy>();
  readonly patches: string[] = [];
  readonly #version: string;
  #handlers: KindHandlers | undefined;

  constructor(version: string) {
    this.#version = version;
  }

  watch(_kind: unknown, handlers: KindHandlers): KindWatch {
    this.#handlers = handlers;
    handlers.listing();
    handlers.changed([...this.objects.values()]);
    handlers.listed();
    const nothing = () => undefined;
    return { state: 'watching', since: 0, error: undefined, refresh: nothing, close: nothing };
  }

  put(name: string, to: object, more: Partial<Policy> = {}): void {
    const generation = (this.objects.get(name)?.metadata.generation ?? 0) + 1;
    const spec = {
      tier: 'Admin',
      priority: 1,
      subject: { namespaces: {} },
      egress: [{ action: 'Deny', to: [to] }],
    };
    const before = this.objects.get(name);
    const policy = { ...before, metadata: { name, generation }, spec, ...more };
    this.objects.set(name, policy);
    this.#handlers?.changed([policy]);
  }

  async patchStatus(path: string, status: object): Promise<void> {
    const [, version, name = ''] = /\/(v[^/]*)\/clusternetworkpolicies\/(.*)$/.exec(path) ?? [];
    const object = this.objects.get(name);
    if (version !== this.#version || !object) throw statusError(404, '', path);
    const patched = { ...object, status: status as Policy['status'] } as Policy;
    this.objects.set(name, patched);
    this.patches.push(name);
    this.#handlers?.changed([patched]);
  }

  conditions(name: string) {
    return this.objects.get(name)?.status?.conditions ?? [];
  }
}
