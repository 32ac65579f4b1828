/** The Helm chart of deploy/, and the manifest that is made from it for clusters without Helm. */
import { spawnSync } from 'node:child_process';
import { findKubeProgram } from '#test/support/requirements.ts';

export const CHART = 'deploy/helm/contiv-vswitch';
export const MANIFEST = 'deploy/contiv-vswitch.yaml';
export const NAMESPACE = 'kube-system';

const HEAD = `# Made by \`npm run manifest\` from the chart in helm/, with its default values: do not edit it. docs/install.md
# describes what a cluster needs, and how other values are set.
`;

/** Oldest version that the chart supports: a helm that was built from its module knows none. */
const KUBE_VERSION = '1.30.0';

/** Runs helm. @throws with what it printed when it fails */
export function helm(args: readonly string[], values?: unknown): string {
  const program = findKubeProgram('helm');
  if (program === undefined) throw new Error('helm is not in the PATH or in KUBE_BIN: install it');
  const flags = values === undefined ? [] : ['--values=-'];
  const { status, stdout, stderr, error } = spawnSync(program, [...args, ...flags], {
    encoding: 'utf8',
    // JSON is YAML
    input: values === undefined ? '' : JSON.stringify(values),
    maxBuffer: 64 << 20,
  });
  if (status !== 0) throw new Error(`helm ${args.join(' ')}: ${error ?? stderr}`);
  return stdout;
}

/** All objects of the chart, as YAML. */
export function renderChart(values?: unknown): string {
  const where = [`--namespace=${NAMESPACE}`, `--kube-version=${KUBE_VERSION}`];
  return helm(['template', 'contiv-vswitch', CHART, '--include-crds', ...where], values);
}

export function renderManifest(): string {
  const objects = renderChart()
    .split('\n')
    .filter((line) => !line.startsWith('# Source: ') && !/^ +$/.test(line))
    .join('\n');
  return HEAD + objects;
}
