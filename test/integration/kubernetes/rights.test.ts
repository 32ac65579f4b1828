/**
 * contiv-ksr with exactly the rights of its service account in deploy/, and with one less. The audit log of the
 * API server shows what it asked for.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { nodeConfigDigest, nodeConfigStatusModel } from '#kubernetes/models/node-config-status.ts';
import { find, type KubernetesObject, objectsOf } from '#test/deploy/support/objects.ts';
import { withoutEtcdctl, withoutKubernetes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { MANIFEST, NAMESPACE } from '../../../scripts/lib/deploy/chart.ts';
import { RealKsr } from '../support/ksr.ts';
import { Reflection } from '../support/reflection.ts';

const limits = { skip: withoutKubernetes() || withoutEtcdctl(), timeout: 400_000 };
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:contiv-ksr`;

const objects = objectsOf(readFileSync(MANIFEST, 'utf8'));
const role = find(objects, 'ClusterRole', 'contiv-ksr');

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

/** `<verb> <resource>.<group>` of each right. */
function rightsOf({ rules = [] }: KubernetesObject): string[] {
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      verbs.flatMap((verb) =>
        resources.flatMap((resource) => apiGroups.map((group) => `${verb} ${resource}.${group}`)),
      ),
    )
    .sort();
}

/** The role without a verb. */
function withoutVerb(verb: string): KubernetesObject {
  const rules = role.rules!.map((rule) => ({
    ...rule,
    verbs: rule.verbs.filter((each) => each !== verb),
  }));
  return { ...role, rules: rules.filter(({ verbs }) => verbs.length > 0) };
}

describe('contiv-ksr with the rights of its manifest', limits, () => {
  const folder = mkdtempSync(join(tmpdir(), 'rights-'));
  const log = join(folder, 'audit.log');
  let reflection: Reflection;
  let token = '';
  before(async () => {
    const policy = join(folder, 'policy.json');
    // JSON is YAML
    const rules = [{ level: 'Metadata', omitStages: ['RequestReceived'] }];
    const apiVersion = 'audit.k8s.io/v1';
    writeFileSync(policy, JSON.stringify({ apiVersion, kind: 'Policy', rules }));
    reflection = await Reflection.start('not started', [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      '--audit-log-mode=blocking-strict',
    ]);
    const { apiServer } = reflection;
    await apiServer.installNodeConfigs();
    for (const kind of ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'])
      apiServer.apply(JSON.stringify(find(objects, kind, 'contiv-ksr')));
    token = apiServer.kubectl('create', 'token', 'contiv-ksr', `--namespace=${NAMESPACE}`).trim();
  });
  after(async () => {
    await reflection?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startKsr(): Promise<RealKsr> {
    const { apiServer, ksrOptions } = reflection;
    const kubeconfig = apiServer.kubeconfig({ name: 'contiv-ksr', token });
    const ksr = await RealKsr.create({ ...ksrOptions, kubeconfig });
    ksr.run();
    return ksr;
  }

  /** Requests of contiv-ksr, as rights, and whether each was refused. */
  function requests(): { right: string; isRefused: boolean }[] {
    return readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ user, objectRef }) => user.username === ACCOUNT && objectRef !== undefined)
      .map(({ verb, objectRef, responseStatus }) => {
        const { resource, subresource, apiGroup = '' } = objectRef!;
        const path = subresource === undefined ? resource : `${resource}/${subresource}`;
        return { right: `${verb} ${path}.${apiGroup}`, isRefused: responseStatus?.code === 403 };
      });
  }

  const refused = () =>
    new Set(
      requests()
        .filter(({ isRefused }) => isRefused)
        .map(({ right }) => right),
    );

  it('uses every one of them, and needs no other', async () => {
    const { apiServer } = reflection;
    await using ksr = await startKsr();
    await ksr.whenReady();
    await reflection.assertConverges();
    apiServer.apply(
      JSON.stringify({
        apiVersion: 'nodeconfig.contiv.vpp/v1',
        kind: 'NodeConfig',
        metadata: { name: 'node1' },
        spec: { gateway: '10.0.0.1' },
      }),
    );
    const record = nodeConfigModel.canonical({ node_name: 'node1', gateway: '10.0.0.1' });
    const decision = nodeConfigStatusModel.canonical({
      node_name: 'node1',
      state: 'Applied',
      node_config: nodeConfigDigest(record),
      since: '2026-01-01T00:00:00.000Z',
    });
    const text = JSON.stringify(nodeConfigStatusModel.toJson(decision));
    await reflection.write(nodeConfigStatusModel.key(decision), text);
    const asked = () => new Set(requests().map(({ right }) => right));
    // Kinds that are not installed here are listed and never watched.
    const rights = rightsOf(role).filter((right) => !/^watch .*\.contivpp\.io$/.test(right));
    await until('all rights are used', () => rights.every((right) => asked().has(right)), 120_000);
    assert.deepEqual([...asked()].sort(), rights);
    assert.deepEqual([...refused()], []);
    assert.doesNotMatch(ksr.tail(), /forbidden/i);
  });

  it('is refused everything else', async () => {
    using own = reflection.apiServer.client(token);
    for (const path of ['/api/v1/secrets', '/api/v1/configmaps', '/apis/apps/v1/daemonsets'])
      await assert.rejects(own.list(path), { status: 403 });
    await assert.rejects(own.delete('/api/v1/namespaces/default'), { status: 403 });
    await assert.rejects(own.patch('/api/v1/nodes/node1', {}), { status: 403 });
    assert.ok(await reflection.client.get('/api/v1/namespaces/default'));
  });

  for (const verb of ['list', 'watch'])
    it(`waits for the kinds that it may not ${verb}`, async () => {
      const { apiServer } = reflection;
      apiServer.apply(JSON.stringify(withoutVerb(verb)));
      await using ksr = await startKsr();
      const missing = rightsOf(role).filter(
        (right) => right.startsWith(`${verb} `) && !right.endsWith('.contivpp.io'),
      );
      await until('each is refused', () => missing.every((right) => refused().has(right)), 120_000);
      await until('the log has it', () => /forbidden|403/i.test(ksr.tail()), 30_000);
      apiServer.apply(JSON.stringify(role));
    });
});
