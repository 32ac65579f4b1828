/** Compares deploy/ and the Dockerfile with the agent. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { boltSchema } from '#datastore/config.ts';
import { parseConfig } from '#infra/config/load.ts';
import { grpcSchema } from '#infra/grpc/config.ts';
import { contivConfigFile } from '#plugins/contivconf/config.ts';
import { checkContivConfig } from '#plugins/contivconf/config-check.ts';
import { govppSchema } from '#vpp/config.ts';
import { BUNDLE } from '../../scripts/lib/agent-bundle.ts';
import { configDocuments } from '../../scripts/lib/docs/config.ts';
import { routes } from '../../scripts/lib/docs/routes.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number };
}

interface Container {
  readonly name: string;
  readonly env: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

const objects = parseAllDocuments(readFileSync('deploy/contiv-vswitch.yaml', 'utf8')).map(
  (document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  },
);
const files: Readonly<Record<string, string>> = objects.find(
  ({ metadata }) => metadata.name === 'contiv-agent-cfg',
).data;
const pod = objects.find(({ kind }) => kind === 'DaemonSet').spec.template.spec;
const agent: Container = pod.containers.find(({ name }: Container) => name === 'contiv-agent');

describe('deploy/contiv-vswitch.yaml', () => {
  let known = new Map<string, Parameters<typeof parseConfig>[0]>();
  before(async () => {
    known = new Map((await configDocuments()).map(({ fileName, schema }) => [fileName, schema]));
  });

  it('has a configuration that the agent accepts without a warning', () => {
    for (const [name, text] of Object.entries(files)) {
      const schema = known.get(name);
      assert.ok(schema, `the agent reads no ${name}`);
      assert.deepEqual(parseConfig(schema, text, name).warnings, []);
    }
    const contiv = parseConfig(contivConfigFile.schema, files['contiv.conf']!, 'contiv.conf');
    assert.deepEqual(checkContivConfig(contiv, 'node1').warnings, []);
  });

  it('has no empty configuration file', () => {
    for (const [name, text] of Object.entries(files)) {
      const { set } = parseConfig(known.get(name)!, text, name);
      assert.ok(set.size > 0, `${name} sets nothing: leave it out`);
    }
  });

  it('probes existing routes on the port of the REST server', () => {
    const paths = routes().map(({ path }) => path);
    for (const { httpGet } of [agent.readinessProbe, agent.livenessProbe]) {
      assert.ok(paths.includes(httpGet.path), httpGet.path);
      assert.equal(httpGet.port, 9999);
    }
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
    const volumes: { name: string }[] = pod.volumes;
    const declared = volumes.map(({ name }) => name);
    for (const container of pod.containers as Container[])
      for (const { name } of container.volumeMounts) assert.ok(declared.includes(name), name);
  });

  it('gives VPP enough buffers for the TAPs of 110 pods and of the host', () => {
    const vpp = objects.find(({ metadata }) => metadata.name === 'contiv-vpp-cfg').data;
    const [, buffers] = /buffers-per-numa (\d+)/.exec(vpp['startup.conf'])!;
    const { value } = parseConfig(contivConfigFile.schema, files['contiv.conf']!, 'contiv.conf');
    const ringSize = value.tapv2RxRingSize || 256;
    // without huge pages VPP leaves out the quarter of its buffers that would cross a page
    assert.ok(Number(buffers) * 0.72 >= 111 * ringSize);
  });

  it('sets only variables that the agent reads', () => {
    const documented = readFileSync('docs/configuration.md', 'utf8');
    const manifest = readFileSync('deploy/contiv-vswitch.yaml', 'utf8');
    for (const { name } of agent.env)
      assert.ok(documented.includes(`\`${name}\``) || manifest.includes(`$(${name})`), name);
  });
});

describe('Dockerfile', () => {
  const lines = readFileSync('Dockerfile', 'utf8').split('\n');
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');

  it('copies existing files that are not ignored, and starts the program that it has built', () => {
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    assert.ok(copied.includes('src'));
    for (const path of copied) {
      assert.ok(existsSync(path), path);
      assert.ok(ignored.includes(`!${path}`), `${path} is ignored`);
    }
    const start = lines.find((line) => line.startsWith('ENTRYPOINT '))!;
    const [program] = JSON.parse(start.slice('ENTRYPOINT '.length));
    const folder = lines.findLast((line) => line.startsWith('WORKDIR '))?.slice('WORKDIR '.length);
    assert.equal(program, join(folder!, BUNDLE, 'main.js'));
    assert.ok(lines.includes('RUN npm run build:agent'));
  });

  it('has the Node.js version of package.json', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, major] = /^FROM node:(\d+)-/m.exec(lines.join('\n')) ?? [];
    assert.equal(engines.node, `>=${major}`);
  });
});
