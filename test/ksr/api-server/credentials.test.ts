import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { Credentials } from '#ksr/api-server/credentials.ts';

const root = mkdtempSync(join(tmpdir(), 'ksr-credentials-'));
const account = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
mkdirSync(account, { recursive: true });
mkdirSync(join(root, 'etc/kubernetes'), { recursive: true });
const adminFile = join(root, 'etc/kubernetes/admin.conf');
after(() => rmSync(root, { recursive: true }));

beforeEach(() => {
  process.env['KUBERNETES_SERVICE_HOST'] = 'fd00::1';
  process.env['KUBERNETES_SERVICE_PORT'] = '443';
  writeFileSync(join(account, 'ca.crt'), 'authority');
  writeFileSync(join(account, 'token'), 'first\n');
});
afterEach(() => {
  delete process.env['KUBERNETES_SERVICE_HOST'];
  delete process.env['KUBERNETES_SERVICE_PORT'];
});

const writeConfig = (file: string, server: string, user: object = {}) =>
  writeFileSync(
    file,
    JSON.stringify({
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'c', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    }),
  );

test('the service account is used without a kubeconfig file', async () => {
  const { server, options } = await new Credentials(undefined, root).address();
  assert.equal(server, 'https://[fd00::1]:443');
  assert.equal(String(options.ca), 'authority');
  assert.deepEqual(options.headers, { Authorization: 'Bearer first' });
});

test('a token that was replaced is read again after `reload`', async () => {
  const credentials = new Credentials(undefined, root);
  await credentials.address();
  writeFileSync(join(account, 'token'), 'second');
  credentials.reload();
  const { options } = await credentials.address();
  assert.deepEqual(options.headers, { Authorization: 'Bearer second' });
});

test('the kubeconfig file of kubeadm comes before the service account', async () => {
  writeConfig(adminFile, 'https://admin:6443/');
  const { server } = await new Credentials(undefined, root).address();
  assert.equal(server, 'https://admin:6443');
  rmSync(adminFile);
});

test('a kubeconfig file that is named comes first; its prefix and its token are used', async () => {
  const file = join(root, 'kubeconfig');
  writeConfig(file, 'https://rancher/k8s/clusters/c-1', { token: 'secret' });
  const { server, options } = await new Credentials(file, root).address();
  assert.equal(server, 'https://rancher/k8s/clusters/c-1');
  assert.deepEqual(options.headers, { Authorization: 'Bearer secret' });
});

const invalidFiles = {
  'no YAML': '\t{',
  'another document': '[]',
  nothing: '',
  'no context': '{"clusters":[],"users":[],"contexts":[]}',
};
for (const [title, text] of Object.entries(invalidFiles))
  test(`a kubeconfig file with ${title} is an error that names the file`, async () => {
    const file = join(root, 'invalid');
    writeFileSync(file, text);
    await assert.rejects(new Credentials(file, root).address(), {
      code: 'CV_KSR_KUBE_CONFIG',
      where: file,
    });
  });

test('a file that does not exist is an error, also when there is a service account', async () => {
  const file = join(root, 'none');
  await assert.rejects(new Credentials(file, root).address(), { code: 'CV_KSR_KUBE_CONFIG' });
});

test('neither a file nor a pod is an error', async () => {
  delete process.env['KUBERNETES_SERVICE_HOST'];
  await assert.rejects(new Credentials(undefined, root).address(), {
    code: 'CV_KSR_KUBE_CONFIG',
    message: /no kubeconfig file, and KUBERNETES_SERVICE_HOST is not set/,
  });
});
