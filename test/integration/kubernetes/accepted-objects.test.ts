/**
 * The reflector and the agent read each object that a kube-apiserver accepts: of random odd objects, those that it
 * accepts (by a dry run, with its defaults) have a record that the agent decodes, no policy loses a part, and no resync
 * fails by them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '#infra/log/log.ts';
import { closedPolicies } from '#kubernetes/models/closed-policy.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { parseCidr, parseIp, parseKubernetesCidr, parseKubernetesIp } from '#models/ip.ts';
import { KeySpace } from '#plugins/dbwatcher/key-space.ts';
import { LastKnownState } from '#plugins/dbwatcher/last-known-state.ts';
import { type Keyword, type KubeValue, nodeValue, TestNode } from '#test/plugins/test-node.ts';
import { withoutKubernetes } from '#test/support/requirements.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import { KubeApiServer } from '../support/kube-api-server.ts';
import { KubeApiError, type KubeClient } from '../support/kube-client.ts';
import { recordsOf } from '../support/reflected-state.ts';
import { type OddKind, oddKinds, oddStatuses } from './accepted/odd-objects.ts';

/** All of them in `npm run soak -- random`. */
const OBJECTS = process.env['CV_PART'] === undefined ? 3_000 : 100_000;
const CONCURRENCY = 12;
/** Objects in one resync of the agent. */
const BATCH = 200;

const seed = Number(process.env['CV_SEED'] ?? 1);

describe('odd objects that a kube-apiserver accepts', {
  skip: withoutKubernetes(),
  timeout: 3_600_000,
}, () => {
  let etcd: EtcdServer;
  let apiServer: KubeApiServer;
  let client: KubeClient;
  before(async () => {
    etcd = await EtcdServer.start();
    apiServer = await KubeApiServer.start({ etcd: `127.0.0.1:${etcd.port}` });
    client = apiServer.client();
    const containers = [{ name: 'a', image: 'i' }];
    const metadata = { name: 'base' };
    await client.create('/api/v1/namespaces/default/pods', { metadata, spec: { containers } });
    await client.create('/api/v1/namespaces/default/services', {
      metadata,
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
  });
  after(async () => {
    client?.[Symbol.dispose]();
    await apiServer?.[Symbol.asyncDispose]();
    await etcd?.close();
  });

  /** Those that are accepted, as the API server returns them. */
  async function accepted({ path, objects }: OddKind, count: number): Promise<object[]> {
    const isStatus = path.endsWith('/status');
    const found: object[] = [];
    const all = fc.sample(objects, { numRuns: count, seed }).values();
    const worker = async () => {
      for (const one of all)
        try {
          const to = `${path}?dryRun=All`;
          const answer = await (isStatus ? client.patch(to, one) : client.create(to, one));
          found.push(answer as object);
        } catch (thrown) {
          if (!(thrown instanceof KubeApiError) || thrown.status >= 500) throw thrown;
        }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return found;
  }

  for (const kind of [...oddKinds, ...oddStatuses])
    it(`have records that an agent reads: ${kind.path}`, async () => {
      const each = Math.ceil(OBJECTS / (oddKinds.length + oddStatuses.length));
      const objects = await accepted(kind, each);
      assert.ok(objects.length > each / 100, `${objects.length} of ${each} are accepted`);
      for (let at = 0; at < objects.length; at += BATCH) {
        const known = new LastKnownState(new KeySpace('/vnf-agent/node-a/'), silentLogger);
        const values: KubeValue[] = [nodeValue('node-a', '172.16.0.5')];
        for (const object of objects.slice(at, at + BATCH)) {
          // slices of other objects than services have no record
          for (const [key, value] of recordsOfOne(object)) {
            const entry = known.add({ key, value });
            assert.deepEqual([...known.broken], [], JSON.stringify(object));
            assert.ok(entry?.value, `${key} is watched`);
            check(entry.value, object);
            values.push({
              resource: entry.watchedKey.resource as Keyword,
              key: entry.watchedKey.key,
              value: entry.value,
            });
          }
        }
        const node = new TestNode();
        const { error } = await node.resync(values);
        assert.equal(error, undefined);
      }
      console.log(`${kind.path}: ${objects.length} of ${each} accepted, seed ${seed}`);
    });
});

function recordsOfOne(object: object): ReadonlyMap<string, string> {
  const { kind, metadata } = object as { kind: string; metadata: { labels?: object } };
  const service = 'kubernetes.io/service-name';
  if (kind === 'EndpointSlice' && !Object.hasOwn(metadata.labels ?? {}, service)) return new Map();
  const records = recordsOf([object], 'own');
  assert.equal(records.size, 1, JSON.stringify(object));
  for (const key of records.keys()) assert.ok(key.startsWith(REFLECTOR_PREFIX));
  return records;
}

/** No part is lost, and each address has one spelling, which all plugins read. */
function check(value: object, object: object): void {
  if ('ingress_rule' in value) {
    const problem = closedPolicies.unreadableParts(value as Policy);
    assert.equal(problem, undefined, JSON.stringify(object));
  }
  for (const text of textsOf(value)) {
    if (parseKubernetesIp(text)) assert.ok(parseIp(text), `${text} in ${JSON.stringify(object)}`);
    if (parseKubernetesCidr(text))
      assert.ok(parseCidr(text), `${text} in ${JSON.stringify(object)}`);
  }
}

/** All texts of a value, without those that users choose. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    /label|annotation|^name$|host_name|zone|expression/.test(name) ? [] : textsOf(part),
  );
}
