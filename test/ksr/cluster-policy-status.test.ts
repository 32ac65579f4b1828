/** The condition of ClusterNetworkPolicies that contiv-ksr writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ApiServer, KindHandlers, KindWatch } from '#ksr/api-server/api.ts';
import { statusError } from '#ksr/api-server/api-errors.ts';
import { clusterPolicyStatusWriter } from '#ksr/cluster-policy-status.ts';

interface Policy {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: object;
  readonly status?: { readonly conditions: readonly Record<string, unknown>[] };
}

/** Serves one version of the API. */
class StubApiServer implements ApiServer {
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

function started(version = 'v1beta1') {
  const clock = new ManualClock();
  const api = new StubApiServer(version);
  const writer = clusterPolicyStatusWriter({ apiServer: api, clock, log: silentLogger });
  writer.start();
  return { clock, api, writer };
}

test('a policy is accepted, once for each of its contents', async () => {
  const { clock, api, writer } = started();
  api.put('whole', { namespaces: {} });
  await clock.advance(10_000);
  const [{ lastTransitionTime, ...condition } = {}] = api.conditions('whole');
  assert.deepEqual(condition, {
    type: 'Accepted',
    status: 'True',
    reason: 'AllRulesSupported',
    message: 'all rules are carried to the nodes',
    observedGeneration: 1,
  });
  assert.match(String(lastTransitionTime), /^\d{4}-.*:\d\dZ$/);
  assert.deepEqual(api.patches, ['whole']);
  api.put('whole', { networks: ['10.0.0.0/8'] });
  await clock.advance(10_000);
  const [second] = api.conditions('whole');
  assert.equal(second?.['observedGeneration'], 2);
  assert.equal(second?.['lastTransitionTime'], lastTransitionTime);
  assert.deepEqual(api.patches, ['whole', 'whole']);
  await writer.close();
});

test('rules that fail closed are named; conditions of others stay', async () => {
  const { clock, api, writer } = started('v1alpha2');
  const other = { type: 'Other', status: 'True', reason: 'R', message: '' };
  const status = { conditions: [other] };
  api.put('names', { domainNames: ['example.org'] }, { status });
  await clock.advance(2_000);
  const [first, second] = api.conditions('names');
  assert.deepEqual(first, other);
  assert.deepEqual([second?.['status'], second?.['reason']], ['False', 'RulesFailClosed']);
  assert.match(String(second?.['message']), /spec\.egress\[0\]\.to\[0\] has domainNames/);
  assert.deepEqual(api.patches, ['names']);
  await writer.close();
});
