/** Programs of the cluster that are made from their published Go modules, each in its pinned version. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderOf } from './folder.ts';

/** Kubernetes and its libraries, which have the same version below another first number. */
export const KUBERNETES = '1.34.4';
const LIBRARIES = KUBERNETES.replace(/^1/, 'v0');

/** Libraries that the module of Kubernetes has in its own tree, and whose versions it does not name. */
const kubernetesLibraries = [
  'api',
  'apiextensions-apiserver',
  'apimachinery',
  'apiserver',
  'cli-runtime',
  'client-go',
  'cloud-provider',
  'cluster-bootstrap',
  'code-generator',
  'component-base',
  'component-helpers',
  'controller-manager',
  'cri-api',
  'cri-client',
  'csi-translation-lib',
  'dynamic-resource-allocation',
  'endpointslice',
  'externaljwt',
  'kms',
  'kube-aggregator',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'metrics',
  'mount-utils',
  'pod-security-admission',
  'sample-apiserver',
  'sample-cli-plugin',
  'sample-controller',
];

interface GoModule {
  /** In the module proxy. */
  readonly path: string;
  /** Without `v`. */
  readonly version: string;
  readonly replaced?: Readonly<Record<string, string>>;
  /** Additional Go files by their paths in the module, for programs that have no package of their own. */
  readonly files?: Readonly<Record<string, string>>;
  /** Of the linker. */
  readonly flags?: string;
}

const variable = (path: string, value: string): string => `-X ${path}=${value}`;
const VERSION_PACKAGE = 'k8s.io/component-base/version';
const [major, minor] = KUBERNETES.split('.') as [string, string];

const modules = {
  kubernetes: {
    path: 'k8s.io/kubernetes',
    version: KUBERNETES,
    replaced: Object.fromEntries(
      kubernetesLibraries.map((name) => [`k8s.io/${name}`, LIBRARIES] as const),
    ),
    files: { 'e2e/main_test.go': e2eProgram() },
    flags: [
      variable(`${VERSION_PACKAGE}.gitVersion`, `v${KUBERNETES}`),
      variable(`${VERSION_PACKAGE}.gitMajor`, major),
      variable(`${VERSION_PACKAGE}.gitMinor`, minor),
      variable('k8s.io/client-go/pkg/version.gitVersion', `v${KUBERNETES}`),
    ].join(' '),
  },
  etcd: {
    // As the manifest deploys it.
    path: 'go.etcd.io/etcd/server/v3',
    version: '3.5.21',
    files: {
      'main/main.go': goMain('etcdmain.Main(os.Args)', [
        'os',
        'go.etcd.io/etcd/server/v3/etcdmain',
      ]),
    },
  },
  coredns: {
    path: 'github.com/coredns/coredns',
    version: '1.12.4',
    files: { 'main/main.go': corednsProgram() },
  },
  cyclonus: {
    path: 'github.com/mattfenwick/cyclonus',
    version: '0.5.6',
    files: {
      'cyclonus/main.go': source('cyclonus.go'),
      'cyclonus-worker/main.go': source('cyclonus-worker.go'),
    },
  },
  'network-policy-api': {
    path: 'sigs.k8s.io/network-policy-api',
    version: '0.3.0',
    files: { 'conformance/main_test.go': source('network-policy-api_test.go') },
  },
} satisfies Readonly<Record<string, GoModule>>;

interface GoProgram {
  readonly module: keyof typeof modules;
  /** Below the path of the module, or `./…` of the additional files. */
  readonly package: string;
  readonly isTest?: boolean;
}

/** By name, those first that a cluster needs first. */
export const goPrograms = {
  kubelet: { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubelet' },
  'kube-apiserver': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  'kube-controller-manager': {
    module: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
  },
  'kube-scheduler': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  'kube-proxy': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-proxy' },
  kubectl: { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
  agnhost: { module: 'kubernetes', package: 'k8s.io/kubernetes/test/images/agnhost' },
  etcd: { module: 'etcd', package: './main' },
  coredns: { module: 'coredns', package: './main' },
  ginkgo: { module: 'kubernetes', package: 'github.com/onsi/ginkgo/v2/ginkgo' },
  'e2e.test': { module: 'kubernetes', package: './e2e', isTest: true },
  'reset-server': {
    module: 'kubernetes',
    package: 'k8s.io/kubernetes/test/images/regression-issue-74839',
  },
  cyclonus: { module: 'cyclonus', package: './cyclonus' },
  'cyclonus-worker': { module: 'cyclonus', package: './cyclonus-worker' },
  'network-policy-api.test': {
    module: 'network-policy-api',
    package: './conformance',
    isTest: true,
  },
} satisfies Readonly<Record<string, GoProgram>>;

export type GoProgramName = keyof typeof goPrograms;

/** Path of a program, whether it is built or not. */
export function programPath(name: GoProgramName): string {
  const { module } = goPrograms[name];
  return join(folderOf('programs', `${module}-${modules[module].version}`), name);
}

/** Folder of a module as it was published, which its first program has fetched. */
export function publishedModule(name: keyof typeof modules): string {
  const { path, version } = modules[name];
  const folder = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();
  return join(folder, `${path}@v${version}`);
}

/** Builds a program unless it is there, of the same sources. @returns whether it was built */
export function buildProgram(name: GoProgramName): boolean {
  const target = programPath(name);
  const program: GoProgram = goPrograms[name];
  const module: GoModule = modules[program.module];
  if (existsSync(target) && areSourcesOlder(program, module, target)) return false;
  const flags = ['-ldflags', `-s -w ${module.flags ?? ''}`, '-o', target, program.package];
  const command = program.isTest ? ['test', '-c', '-vet=off'] : ['build'];
  const { status, error } = spawnSync('go', [...command, ...flags], {
    cwd: writeModule(program.module, module),
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' },
  });
  if (status !== 0) throw new Error(`${name} cannot be built: ${error ?? `code ${status}`}`);
  return true;
}

/** Of the additional files of a program, as they were written last. */
function areSourcesOlder(program: GoProgram, module: GoModule, target: string): boolean {
  const folder = moduleFolder(program.module, module);
  const built = statSync(target).mtimeMs;
  return Object.entries(module.files ?? {})
    .filter(([path]) => program.package === `./${dirname(path)}`)
    .every(([path, text]) => {
      const file = join(folder, path);
      return (
        existsSync(file) && readFileSync(file, 'utf8') === text && statSync(file).mtimeMs < built
      );
    });
}

const moduleFolder = (name: string, { version }: GoModule): string =>
  folderOf('programs', 'modules', `${name}-${version}`);

/** @returns the folder of a module that requires the published one */
function writeModule(name: string, module: GoModule): string {
  const folder = moduleFolder(name, module);
  const replaced = Object.entries(module.replaced ?? {});
  const lines = [
    `module ${name}`,
    'go 1.24.0',
    `require ${module.path} v${module.version}`,
    ...replaced.map(([path, version]) => `replace ${path} => ${path} ${version}`),
  ];
  const file = join(folder, 'go.mod');
  // `go build` writes the versions of what it found into it, which saves the next program the search.
  if (!existsSync(file)) writeFileSync(file, `${lines.join('\n')}\n`);
  for (const [path, text] of Object.entries(module.files ?? {})) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    if (!existsSync(join(folder, path)) || readFileSync(join(folder, path), 'utf8') !== text)
      writeFileSync(join(folder, path), text);
  }
  return folder;
}

function source(name: string): string {
  return readFileSync(join(import.meta.dirname, 'programs', name), 'utf8');
}

function goMain(
  body: string,
  imports: readonly string[],
  /** Imported because they register themselves. */
  parts: readonly string[] = [],
): string {
  const lines = [...imports.map((path) => `"${path}"`), ...parts.map((path) => `_ "${path}"`)];
  return `package main\n\nimport (\n${lines.join('\n')}\n)\n\nfunc main() { ${body} }\n`;
}

/** With the plugins that clusters and tests use: those for clouds take five minutes to compile. */
function corednsProgram(): string {
  const plugins = [
    'cache',
    'errors',
    'forward',
    'health',
    'hosts',
    'kubernetes',
    'loadbalance',
    'log',
    'metrics',
    'ready',
    'reload',
    'template',
    'whoami',
  ];
  return goMain(
    'coremain.Run()',
    ['github.com/coredns/coredns/coremain'],
    [
      'github.com/coredns/coredns/core/dnsserver',
      ...plugins.map((name) => `github.com/coredns/coredns/plugin/${name}`),
    ],
  );
}

/** The published tests of networks and nodes: those of storage, clouds and others take minutes to compile. */
function e2eProgram(): string {
  const tests = [
    'e2e/common',
    'e2e/feature',
    'e2e/framework/debug/init',
    'e2e/framework/metrics/init',
    'e2e/framework/node/init',
    'e2e/network',
    'utils/format',
  ];
  return `package e2e

import (
	"flag"
	"os"
	"testing"

	conformance "k8s.io/kubernetes/test/conformance/testdata"
	"k8s.io/kubernetes/test/e2e"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/e2e/framework/testfiles"
	manifests "k8s.io/kubernetes/test/e2e/testing-manifests"
	"k8s.io/kubernetes/test/fixtures"

${tests.map((path) => `\t_ "k8s.io/kubernetes/test/${path}"`).join('\n')}
)

func TestMain(m *testing.M) {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	testfiles.AddFileSource(manifests.GetE2ETestingManifestsFS())
	testfiles.AddFileSource(fixtures.GetTestFixturesFS())
	testfiles.AddFileSource(conformance.GetConformanceTestdataFS())
	framework.AfterReadingAllFlags(&framework.TestContext)
	os.Exit(m.Run())
}

func TestE2E(t *testing.T) { e2e.RunE2ETests(t) }
`;
}
