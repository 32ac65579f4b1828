import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { ApiClient } from '#ksr/api-server/api-client.ts';
import { CredentialPlugin } from '#ksr/api-server/credential-plugin.ts';
import { Credentials } from '#ksr/api-server/credentials.ts';
import { HttpTransport } from '#ksr/api-server/http-transport.ts';
import { ApiKindWatch } from '#ksr/api-server/kind-watch.ts';
import { until } from '#test/support/wait.ts';
import { ObjectView } from '../support/object-view.ts';
import { recordingLogger } from '../support/watched-cluster.ts';

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

const { signal } = new AbortController();

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
  const { server, options } = await new Credentials(undefined, root).address(signal);
  assert.equal(server, 'https://[fd00::1]:443');
  assert.equal(String(options.ca), 'authority');
  assert.deepEqual(options.headers, { Authorization: 'Bearer first' });
});

test('a token that was replaced is read again after `reload`', async () => {
  const credentials = new Credentials(undefined, root);
  await credentials.address(signal);
  writeFileSync(join(account, 'token'), 'second');
  credentials.reload();
  const { options } = await credentials.address(signal);
  assert.deepEqual(options.headers, { Authorization: 'Bearer second' });
});

test('the kubeconfig file of kubeadm comes before the service account', async () => {
  writeConfig(adminFile, 'https://admin:6443/');
  const { server } = await new Credentials(undefined, root).address(signal);
  assert.equal(server, 'https://admin:6443');
  rmSync(adminFile);
});

test('a kubeconfig file that is named comes first; its prefix and its token are used', async () => {
  const file = join(root, 'kubeconfig');
  writeConfig(file, 'https://rancher/k8s/clusters/c-1', { token: 'secret' });
  const { server, options } = await new Credentials(file, root).address(signal);
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
    await assert.rejects(new Credentials(file, root).address(signal), {
      code: 'CV_KSR_KUBE_CONFIG',
      where: file,
    });
  });

test('a file that does not exist is an error, also when there is a service account', async () => {
  const file = join(root, 'none');
  await assert.rejects(new Credentials(file, root).address(signal), { code: 'CV_KSR_KUBE_CONFIG' });
});

test('neither a file nor a pod is an error', async () => {
  delete process.env['KUBERNETES_SERVICE_HOST'];
  await assert.rejects(new Credentials(undefined, root).address(signal), {
    code: 'CV_KSR_KUBE_CONFIG',
    message: /no kubeconfig file, and KUBERNETES_SERVICE_HOST is not set/,
  });
});

/** A plugin that hangs at its first run. */
function writePlugin(file: string): { readonly runs: () => number } {
  const log = `${file}.runs`;
  const credential = JSON.stringify({ status: { token: 'secret' } });
  const script = `echo >> ${log}; [ $(wc -l < ${log}) -gt 1 ] || exec sleep 3; echo '${credential}'`;
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: '/bin/sh', args: ['-c', script] };
  writeConfig(file, 'https://127.0.0.1:9', { exec });
  return { runs: () => (existsSync(log) ? readFileSync(log, 'utf8').length : 0) };
}

test('requests that wait for a credential plugin that hangs fail, and the next one starts it again', async () => {
  const file = join(root, 'plugin');
  const { runs } = writePlugin(file);
  const credentials = new Credentials(file, root);
  const first = new AbortController();
  const waiting = [credentials.address(first.signal), credentials.address(first.signal)];
  await until('the plugin runs', () => runs() > 0);
  first.abort();
  for (const one of waiting)
    await assert.rejects(one, { code: 'CV_KSR_API_CREDENTIALS', where: file });
  assert.equal(runs(), 1);
  const { options } = await credentials.address(signal);
  assert.deepEqual(options.headers, { Authorization: 'Bearer secret' });
});

test('a credential plugin that hangs interrupts the watch', async () => {
  const file = join(root, 'hanging');
  writePlugin(file);
  const clock = new ManualClock();
  const { lines, log } = recordingLogger();
  const watch = new ApiKindWatch({
    client: new ApiClient(new HttpTransport(new Credentials(file, root)), clock),
    clock,
    random: seededRandom(1),
    log,
    kind: { kind: 'Pod', path: '/api/v1/pods' },
    handlers: new ObjectView(),
  });
  await clock.advance(61_000);
  assert.equal(watch.state, 'waiting');
  assert.match(watch.error?.message ?? '', /credential plugin has not answered/);
  assert.deepEqual(lines, ['warn watch is interrupted']);
  watch.close();
});

test('a credential plugin that does not end is killed', async () => {
  const pidFile = join(root, 'pid');
  const exec = { command: '/bin/sh', args: ['-c', `echo $$ > ${pidFile}; exec sleep 60`] };
  await assert.rejects(new CredentialPlugin(exec, 200).credential(), {
    message: 'the credential plugin /bin/sh did not end within 0.2 s',
  });
  const pid = Number(readFileSync(pidFile, 'utf8'));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('a credential plugin has its variables, and is run again when its answer has expired', async () => {
  const log = join(root, 'answers');
  const run = async (expirationTimestamp: string): Promise<unknown[]> => {
    writeFileSync(log, '');
    const status = JSON.stringify({
      status: { token: '$NAME', clientKeyData: 'k', expirationTimestamp },
    });
    const script = `echo >> ${log}; echo "${status.replaceAll('"', '\\"')}"`;
    const env = [{ name: 'NAME', value: 'secret' }];
    const plugin = new CredentialPlugin({ command: '/bin/sh', args: ['-c', script], env });
    await plugin.credential();
    return [await plugin.credential(), readFileSync(log, 'utf8').length];
  };
  const credential = { token: 'secret', certificate: undefined, key: 'k' };
  assert.deepEqual(await run('2999-01-01T00:00:00Z'), [credential, 1]);
  assert.deepEqual(await run('2001-01-01T00:00:00Z'), [credential, 2]);
});

test('a credential plugin that fails is an error with its message', async () => {
  const plugin = new CredentialPlugin({ command: '/bin/sh', args: ['-c', 'echo no >&2; exit 3'] });
  await assert.rejects(plugin.credential(), { message: /^the credential plugin \/bin\/sh: no/ });
  assert.throws(() => new CredentialPlugin({}), { message: /without a command/ });
});
