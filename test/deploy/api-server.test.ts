/** The objects of the chart at a kube-apiserver, and what its controllers make of them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  findKubeProgram,
  withoutKubeClients,
  withoutKubeControllers,
  withoutKubernetes,
} from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { CHART, helm, MANIFEST, NAMESPACE, renderChart } from '../../scripts/lib/deploy/chart.ts';
import { EtcdServer } from '../integration/support/etcd-server.ts';
import { KubeApiServer } from '../integration/support/kube-api-server.ts';
import { KubeControllers } from '../integration/support/kube-controllers.ts';
import { SCHEMA_PATTERN, writeSchemas } from './support/schemas.ts';
import { valueSets } from './support/value-sets.ts';

const limits = {
  skip: withoutKubernetes() || withoutKubeClients('helm', 'kubeconform'),
  timeout: 400_000,
};

interface Pod {
  readonly metadata: { readonly uid: string; readonly name: string };
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
}

describe('Helm chart at a kube-apiserver', limits, () => {
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  const schemas = join(folder, 'schemas');
  let etcd: EtcdServer;
  let apiServer: KubeApiServer;
  before(async () => {
    etcd = await EtcdServer.start();
    // as kubeadm sets it: VPP needs devices
    const flags = ['--allow-privileged=true'];
    apiServer = await KubeApiServer.start({ etcd: `127.0.0.1:${etcd.port}`, flags });
    writeSchemas(JSON.parse(apiServer.kubectl('get', '--raw', '/openapi/v2')), schemas);
  });
  after(async () => {
    await apiServer?.[Symbol.asyncDispose]();
    await etcd?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function release(action: 'install' | 'upgrade', values: unknown): void {
    const where = [`--namespace=${NAMESPACE}`, `--kubeconfig=${apiServer.kubeconfig()}`];
    helm([action, 'contiv-vswitch', CHART, ...where], values);
  }

  function kubeconform(manifest: string): { status: number | null; text: string } {
    const location = join(schemas, SCHEMA_PATTERN);
    const { status, stdout, stderr } = spawnSync(
      findKubeProgram('kubeconform')!,
      ['-strict', '-summary', `-schema-location=${location}`, '-'],
      { input: manifest, encoding: 'utf8' },
    );
    return { status, text: stdout + stderr };
  }

  for (const { title, values } of valueSets)
    it(`is valid for kubeconform and the API server: ${title}`, () => {
      const manifest = renderChart(values);
      const { status, text } = kubeconform(manifest);
      assert.equal(status, 0, text);
      assert.match(text, /Invalid: 0, Errors: 0, Skipped: 0/);
      apiServer.apply(manifest, '--dry-run=server');
    });

  it('has a plain manifest that is valid, too', () => {
    const manifest = readFileSync(MANIFEST, 'utf8');
    const { status, text } = kubeconform(manifest);
    assert.equal(status, 0, text);
    apiServer.apply(manifest, '--dry-run=server');
  });

  it('is checked by schemas that find a field with a typo', () => {
    const { status, text } = kubeconform(renderChart().replace('hostPID:', 'hostPid:'));
    assert.equal(status, 1);
    assert.match(text, /additional properties 'hostPid' not allowed/);
  });

  it('is installed with certificates that an upgrade keeps', () => {
    const values = { etcd: { address: '10.0.0.1', tls: { enabled: true } } };
    const secret = () =>
      JSON.parse(
        apiServer.kubectl('get', 'secret', 'contiv-etcd-tls', `-n=${NAMESPACE}`, '-o', 'json'),
      ).data as Record<string, string>;
    release('install', values);
    const made = secret();
    release('upgrade', { ...values, ksr: { replicas: 1 } });
    assert.deepEqual(secret(), made);

    const certificate = (name: string) => new X509Certificate(Buffer.from(made[name]!, 'base64'));
    const server = certificate('serverCert');
    const client = certificate('clientCert');
    assert.ok(server.checkIP('10.0.0.1'));
    assert.ok(server.checkIP('127.0.0.1'));
    for (const signed of [server, client]) assert.ok(signed.checkIssued(certificate('caCert')));
    release('upgrade', {});
  });

  it('lets the agent be upgraded in its running pod, and the pod when it is deleted', {
    skip: withoutKubeControllers(),
  }, async () => {
    apiServer.apply(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node1', labels: { 'kubernetes.io/os': 'linux' } },
      }),
    );
    const log = join(folder, 'controllers.log');
    await using controllers = new KubeControllers(apiServer.kubeconfig(), log, [
      'daemonset-controller',
    ]);
    const pods = (): Pod[] => {
      controllers.assertRunning();
      const selector = '--selector=k8s-app=contiv-vswitch';
      const list = apiServer.kubectl('get', 'pods', `-n=${NAMESPACE}`, selector, '-o', 'json');
      return JSON.parse(list).items;
    };
    const image = (pod: Pod, container: string) =>
      pod.spec.containers.find(({ name }) => name === container)!.image;
    const generation = (path: string) =>
      apiServer.kubectl(
        'get',
        'daemonset',
        'contiv-vswitch',
        `-n=${NAMESPACE}`,
        `-o=jsonpath={${path}}`,
      );
    await until('the pod exists', () => pods().length === 1, 60_000);
    const [first] = pods() as [Pod];

    const target = `pod/${first.metadata.name}`;
    const namespace = `--namespace=${NAMESPACE}`;
    apiServer.kubectl('set', 'image', target, namespace, 'contiv-agent=contiv-vswitch:0.2.0');
    release('upgrade', { image: { agent: { tag: '0.2.0' }, vpp: { tag: '0.2.0' } } });
    await until(
      'the controller has seen the upgrade',
      () => generation('.status.observedGeneration') === generation('.metadata.generation'),
      60_000,
    );
    const [patched] = pods() as [Pod];
    assert.equal(patched.metadata.uid, first.metadata.uid);
    assert.equal(image(patched, 'contiv-agent'), 'contiv-vswitch:0.2.0');
    assert.equal(image(patched, 'contiv-vpp'), 'contiv-vswitch-vpp:0.1.0');

    apiServer.kubectl('delete', target, namespace, '--force', '--grace-period=0');
    await until(
      'it is replaced',
      () => pods().length === 1 && pods()[0]!.metadata.uid !== first.metadata.uid,
      60_000,
    );
    assert.equal(image(pods()[0]!, 'contiv-vpp'), 'contiv-vswitch-vpp:0.2.0');
  });
});
