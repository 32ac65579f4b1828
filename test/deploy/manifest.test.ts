/** Compares the manifest in deploy/ with the programs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { boltSchema } from '#datastore/config.ts';
import { parseConfig } from '#infra/config/load.ts';
import { grpcSchema } from '#infra/grpc/config.ts';
import { generatedStartup } from '#init/generated-startup.ts';
import { contivConfigFile } from '#plugins/contivconf/config.ts';
import { checkContivConfig } from '#plugins/contivconf/config-check.ts';
import { govppSchema } from '#vpp/config.ts';
import { programs } from '../../scripts/lib/bundles.ts';
import { MANIFEST } from '../../scripts/lib/deploy/chart.ts';
import { routes } from '../../scripts/lib/docs/routes.ts';
import { configFiles, containerOf, find, objectsOf, podSpec } from './support/objects.ts';

const objects = objectsOf(readFileSync(MANIFEST, 'utf8'));
const vswitch = find(objects, 'DaemonSet', 'contiv-vswitch');
const agent = containerOf(vswitch, 'contiv-agent');
const files = configFiles(objects, vswitch);

describe('deploy/contiv-vswitch.yaml', () => {
  it('has a contiv.conf without a warning', () => {
    const contiv = parseConfig(contivConfigFile.schema, files['contiv.conf']!, 'contiv.conf');
    assert.deepEqual(contiv.warnings, []);
    assert.deepEqual(checkContivConfig(contiv, 'node1').warnings, []);
  });

  it('probes existing routes on the port of the REST server', () => {
    const paths = routes().map(({ path }) => path);
    for (const { httpGet } of [agent.startupProbe, agent.readinessProbe, agent.livenessProbe]) {
      assert.ok(paths.includes(httpGet.path), httpGet.path);
      assert.equal(httpGet.port, 9999);
      // where probes have a queue of their own
      assert.equal(httpGet.host, '127.0.0.1');
    }
  });

  it('restarts no program because its machine is busy', () => {
    const probed = objects
      .filter(({ kind }) => /^(DaemonSet|Deployment|StatefulSet)$/.test(kind))
      .flatMap((workload) => podSpec(workload).containers)
      .filter(({ livenessProbe }) => livenessProbe !== undefined);
    assert.deepEqual(probed.map(({ name }) => name).sort(), [
      'contiv-agent',
      'contiv-etcd',
      'contiv-ksr',
    ]);
    for (const { name, startupProbe, livenessProbe } of probed) {
      // one start took 95 s to open its database
      assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold >= 300, name);
      assert.ok(livenessProbe.timeoutSeconds >= 10, name);
      assert.ok(livenessProbe.periodSeconds * livenessProbe.failureThreshold >= 60, name);
    }
  });

  it('leaves the CNI configuration to the agent, with paths in its volumes', () => {
    assert.doesNotMatch(agent.command.join('\n'), /conflist/);
    const value = (variable: string) => agent.env.find(({ name }) => name === variable)?.value;
    assert.match(value('CNI_CONFIG_SOURCE')!, /^\/etc\/contiv-cni\/.*\.conflist$/);
    assert.match(value('CNI_CONFIG_TARGET')!, /^\/host\/etc\/cni\/net\.d\/.*\.conflist$/);
    const mounts = agent.volumeMounts.map(({ mountPath }) => mountPath);
    assert.ok(mounts.includes('/etc/contiv-cni') && mounts.includes('/host/etc/cni/net.d'));
  });

  it('mounts every path that the agent opens', () => {
    const mounts = agent.volumeMounts.map(({ mountPath }) => mountPath);
    const opened = [
      parseConfig(grpcSchema, '', undefined).value.endpoint,
      parseConfig(govppSchema, '', undefined).value['binapi-socket-path'],
      parseConfig(boltSchema, '', undefined).value['db-path'],
      '/run/netns/',
    ];
    for (const path of opened)
      assert.ok(
        mounts.some((mount) => path.startsWith(`${mount}/`)),
        `${path} is in no volume`,
      );
    const { volumes, containers } = podSpec(vswitch);
    const declared = volumes.map(({ name }) => name);
    for (const container of containers)
      for (const { name } of container.volumeMounts) assert.ok(declared.includes(name), name);
  });

  it('gives VPP enough buffers for the TAPs of 110 pods and of the host', () => {
    const text = generatedStartup({ folder: '/run/vpp', devices: [], hasCnat: true });
    const [, buffers] = /buffers-per-numa (\d+)/.exec(text)!;
    const { value } = parseConfig(contivConfigFile.schema, files['contiv.conf']!, 'contiv.conf');
    const ringSize = value.tapv2RxRingSize || 256;
    // without huge pages VPP leaves out the quarter of its buffers that would cross a page
    assert.ok(Number(buffers) * 0.72 >= 111 * ringSize);
  });

  it('starts programs that the images have', () => {
    for (const workload of objects.filter(({ kind }) => /^(DaemonSet|Deployment)$/.test(kind)))
      for (const { command } of podSpec(workload).containers) {
        const [, program] =
          /\/opt\/contiv-vswitch\/dist\/cmd\/(\w+)\/main\.js/.exec(command.join(' ')) ?? [];
        assert.ok(programs().includes(program!), `${workload.metadata.name}: ${program}`);
      }
  });

  it('sets only variables that the agent reads', () => {
    const documented = readFileSync('docs/configuration.md', 'utf8');
    const manifest = readFileSync(MANIFEST, 'utf8');
    for (const { name } of agent.env)
      assert.ok(documented.includes(`\`${name}\``) || manifest.includes(`$(${name})`), name);
  });
});
