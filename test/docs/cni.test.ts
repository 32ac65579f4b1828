/** Compares docs/cni.md and the conflist of the Helm chart with contiv-cni. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { grpcSchema } from '#infra/grpc/config.ts';
import { errorKinds } from '#plugins/podmanager/runtime-call/cni-error.ts';
import { readNetworkConfig } from '#plugins/podmanager/runtime-call/network-config.ts';
import { isSupported, versions } from '#plugins/podmanager/runtime-call/version.ts';
import { CHART } from '../../scripts/lib/deploy/chart.ts';

const text = readFileSync('docs/cni.md', 'utf8');
const sources = (pattern: string) =>
  globSync(pattern)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
const agent = sources('plugins/podmanager/runtime-call/*.ts');
const program = sources('src/cmd/cni/*.[ch]');
/** The codes that the program itself returns, by their names in it. */
const codes = new Map(
  [...program.matchAll(/^ {2}(CODE_\w+) = (\d+),$/gm)].map(([, name, code]) => [
    Number(code),
    name,
  ]),
);

describe('docs/cni.md', () => {
  it('lists exactly the error codes', () => {
    const listed = [...text.matchAll(/^\| (\d+) \| ([^|]+?) \| [^|]+ \|$/gm)].map(
      ([, code, name]) => `${code} ${name}`,
    );
    const known = Object.values(errorKinds).map(({ code, name }) => `${code} ${name}`);
    assert.deepEqual(listed, known);
  });

  it('lists only codes that contiv-cni or the agent returns', () => {
    for (const [kind, { code }] of Object.entries(errorKinds)) {
      const thrown = new RegExp(`(new CniError\\(|\\? )\\s*'${kind}'|: '${kind}'`);
      const failed = new RegExp(`(fail|fail_with_server)\\(${codes.get(code)},`);
      assert.ok(thrown.test(agent) || failed.test(program), kind);
    }
  });

  it('names the supported versions', () => {
    for (const version of versions) assert.ok(text.includes(version), version);
  });

  it('names the keys of the configuration that are read', () => {
    for (const key of ['grpcServer', 'logFile', 'ipam.type'])
      assert.match(text, new RegExp(`^\\| \`${key}\` \\|`, 'm'));
  });
});

describe('10-contiv-vpp.conflist of the Helm chart', () => {
  const list = JSON.parse(readFileSync(`${CHART}/files/10-contiv-vpp.conflist`, 'utf8'));

  it('has a version that the contiv-cni of Contiv/VPP supports', () => {
    assert.ok(['0.1.0', '0.2.0', '0.3.0', '0.3.1'].includes(list.cniVersion));
  });

  it('has contiv-cni as the first plugin, with the socket of the agent', () => {
    const { cniVersion, name, plugins } = list;
    assert.ok(isSupported(cniVersion));
    assert.equal(plugins[0].type, 'contiv-cni');
    readNetworkConfig(JSON.stringify({ ...plugins[0], cniVersion, name }));
    assert.equal(plugins[0].grpcServer, parseConfig(grpcSchema, '', undefined).value.endpoint);
  });
});
