/** contiv-ksr with the rights of its service account in deploy/, and no others. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { withoutKubernetes } from '#test/support/requirements.ts';
import { RealKsr } from '../support/ksr.ts';
import { Reflection } from '../support/reflection.ts';

const limits = { skip: withoutKubernetes(), timeout: 240_000 };

it(
  'contiv-ksr needs the rights that its manifest gives it, and has no others',
  limits,
  async () => {
    await using resources = new AsyncDisposableStack();
    const reflection = resources.use(await Reflection.start('not started'));
    const { apiServer, client, ksrOptions } = reflection;
    const manifest = readFileSync('deploy/contiv-ksr.yaml', 'utf8');
    // Also its other objects are such as the API server accepts.
    apiServer.apply(manifest);
    const token = apiServer
      .kubectl('create', 'token', 'contiv-ksr', '--namespace=kube-system')
      .trim();
    const ksr = await RealKsr.create({
      ...ksrOptions,
      kubeconfig: apiServer.kubeconfig({ name: 'contiv-ksr', token }),
    });
    resources.use(ksr).run();
    await ksr.whenReady();
    await reflection.assertConverges();
    assert.doesNotMatch(ksr.tail(), /forbidden/i);

    const role = parseAllDocuments(manifest)
      .map((document) => document.toJS())
      .find(({ kind }) => kind === 'ClusterRole') as { rules: readonly { verbs: string[] }[] };
    const verbs = new Set(role.rules.flatMap((rule) => rule.verbs));
    assert.deepEqual([...verbs].sort(), ['list', 'patch', 'watch']);
    using own = apiServer.client(token);
    await assert.rejects(own.list('/api/v1/secrets'), { status: 403 });
    await assert.rejects(own.delete('/api/v1/namespaces/default'), { status: 403 });
    assert.ok(await client.get('/api/v1/namespaces/default'));
  },
);
