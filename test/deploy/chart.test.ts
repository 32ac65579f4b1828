/** The Helm chart with several sets of values, and what the programs read of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { parseFlags as agentFlags } from '#cmd/agent/flags.ts';
import { readSettings as agentSettings } from '#cmd/agent/settings.ts';
import { parseFlags as initFlags } from '#cmd/init/flags.ts';
import { readSettings as initSettings } from '#cmd/init/settings.ts';
import { parseFlags as ksrFlags } from '#cmd/ksr/flags.ts';
import { readSettings as ksrSettings } from '#cmd/ksr/settings.ts';
import { readNetworkConfig } from '#plugins/podmanager/runtime-call/network-config.ts';
import { withoutKubeClients } from '#test/support/requirements.ts';
import {
  CHART,
  helm,
  MANIFEST,
  renderChart,
  renderManifest,
} from '../../scripts/lib/deploy/chart.ts';
import {
  configFiles,
  FolderOfFiles,
  find,
  type KubernetesObject,
  objectsOf,
  podSpec,
} from './support/objects.ts';
import { valueSets } from './support/value-sets.ts';

const limits = { skip: withoutKubeClients('helm'), timeout: 120_000 };

describe('Helm chart', limits, () => {
  it('has no fault that helm lint finds', () => {
    helm(['lint', '--strict', CHART]);
  });

  it('is what deploy/contiv-vswitch.yaml was made from', () => {
    assert.equal(readFileSync(MANIFEST, 'utf8'), renderManifest(), 'run npm run manifest');
  });

  it('has the version of package.json', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    assert.match(
      readFileSync(`${CHART}/Chart.yaml`, 'utf8'),
      RegExp(`^appVersion: ${version}$`, 'm'),
    );
  });

  for (const { title, values } of valueSets)
    it(`configures the agent, contiv-init and contiv-ksr without a warning: ${title}`, () => {
      const objects = objectsOf(renderChart(values));
      const vswitch = find(objects, 'DaemonSet', 'contiv-vswitch');
      using agent = new FolderOfFiles(configFiles(objects, vswitch));
      const env = { CONFIG_DIR: agent.path, MICROSERVICE_LABEL: 'node1' };
      assert.deepEqual(agentSettings(agentFlags([], env), env).warnings, []);
      initSettings(initFlags(['--vpp-only'], env), env);

      const reflector = find(objects, 'Deployment', 'contiv-ksr');
      using ksr = new FolderOfFiles(configFiles(objects, reflector));
      const ksrEnv = { CONFIG_DIR: ksr.path };
      assert.deepEqual(ksrSettings(ksrFlags([], ksrEnv), ksrEnv).warnings, []);
    });

  it('has no configuration file that sets nothing', () => {
    const objects = objectsOf(renderChart({}));
    for (const [kind, name] of [
      ['DaemonSet', 'contiv-vswitch'],
      ['Deployment', 'contiv-ksr'],
    ] as const)
      for (const [file, text] of Object.entries(configFiles(objects, find(objects, kind, name))))
        assert.notDeepEqual(Object.keys(parse(text) ?? {}), [], `${file}: leave it out`);
  });

  it('connects the agents to the proxies, and the proxies and contiv-ksr to etcd', () => {
    const endpoints = (values: object) => {
      const objects = objectsOf(renderChart({ etcd: { proxies: 2, ...values } }));
      /** Of a program with a configuration file, which precedes the variable. */
      const listed = (kind: string, name: string) => {
        const workload = find(objects, kind, name);
        const { endpoints } = parse(configFiles(objects, workload)['etcd.conf'] ?? '');
        return endpoints ?? [variable(workload)];
      };
      const proxy = find(objects, 'Deployment', 'contiv-etcd-proxy');
      const flag = podSpec(proxy).containers[0]!.command.find((word) => word.includes('endpoints'));
      return [
        listed('DaemonSet', 'contiv-vswitch'),
        flag?.replace('$(ETCD_ENDPOINTS)', variable(proxy) ?? ''),
        listed('Deployment', 'contiv-ksr'),
      ];
    };
    const variable = (workload: KubernetesObject) =>
      podSpec(workload)
        .containers.at(-1)!
        .env.find(({ name }) => name === 'ETCD_ENDPOINTS')?.value;
    assert.deepEqual(endpoints({}), [
      ['$(HOST_IP):32380'],
      '--endpoints=$(HOST_IP):32379',
      ['$(HOST_IP):32379'],
    ]);
    assert.deepEqual(endpoints({ address: '10.0.0.1', proxyEndpoints: ['10.0.0.2:12382'] }), [
      ['10.0.0.2:12382'],
      '--endpoints=10.0.0.1:12379',
      ['10.0.0.1:12379'],
    ]);
    assert.deepEqual(endpoints({ enabled: false, endpoints: ['a:1', 'b:2'] }), [
      ['$(HOST_IP):32380'],
      '--endpoints=a:1,b:2',
      ['a:1', 'b:2'],
    ]);
  });

  it('installs a CNI configuration that contiv-cni accepts, with external IPAM if it is set', () => {
    const conflist = (useExternalIPAM: boolean) => {
      const values = { agent: { config: { contiv: { ipamConfig: { useExternalIPAM } } } } };
      const map = find(objectsOf(renderChart(values)), 'ConfigMap', 'contiv-cni-cfg');
      return JSON.parse(map.data!['10-contiv-vpp.conflist']!);
    };
    const read = (useExternalIPAM: boolean) => {
      const { cniVersion, name, plugins } = conflist(useExternalIPAM);
      return readNetworkConfig(JSON.stringify({ cniVersion, name, ...plugins[0] }));
    };
    assert.equal(read(false).ipam, undefined);
    assert.deepEqual(read(true).ipam, { type: 'host-local', subnet: 'usePodCidr' });
  });

  it('does not depend on the chains of kube-proxy, which it has in its iptables mode only', () => {
    const map = find(objectsOf(renderChart({})), 'ConfigMap', 'contiv-cni-cfg');
    const { plugins } = JSON.parse(map.data!['10-contiv-vpp.conflist']!);
    const portmap = plugins.find(({ type }: { type: string }) => type === 'portmap');
    const { externalSetMarkChain, ...keys } = portmap;
    assert.equal(externalSetMarkChain, undefined);
    // replies to clients of the host's NICs have to pass the host
    assert.deepEqual(keys, {
      type: 'portmap',
      capabilities: { portMappings: true },
      masqAll: true,
    });
  });

  // Helm checks schemas with one of two libraries, depending on its version.
  for (const [what, values, message] of [
    ['an unknown value', { agents: {} }, /\bagents'? (is )?not allowed/],
    [
      'a key of contiv.conf with a typo',
      { agent: { config: { contiv: { mtuSiez: 1500 } } } },
      /\bmtuSiez'? (is )?not allowed/,
    ],
    [
      'a key of the wrong type',
      { agent: { config: { contiv: { mtuSize: 'large' } } } },
      /mtuSize.*(got string, want integer|Expected: integer, given: string)/s,
    ],
    [
      'a file that contiv-ksr does not read',
      { ksr: { config: { contiv: {} } } },
      /\bcontiv'? (is )?not allowed/,
    ],
    ['a URL as an endpoint', { etcd: { endpoints: ['http://10.0.0.1:2379'] } }, /endpoints[/.]0/],
    ['no etcd at all', { etcd: { enabled: false } }, /etcd\.endpoints: name the etcd to use/],
    [
      'generated certificates without a cluster',
      { etcd: { address: '10.0.0.1', tls: { enabled: true } } },
      /etcd\.tls\.secretName: required where helm cannot look into the cluster/,
    ],
    [
      'proxies with TLS whose addresses no certificate can have',
      { etcd: { address: '10.0.0.1', tls: { enabled: true, secretName: 'x' }, proxies: 2 } },
      /etcd\.proxies: with TLS name the addresses of the proxies/,
    ],
  ] as const)
    it(`refuses ${what}`, () => {
      assert.throws(() => renderChart(values), message);
    });
});
