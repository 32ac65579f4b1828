/** kube-score on the chart. Each finding is either an error or an exception with its reason. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { findKubeProgram, withoutKubeClients } from '#test/support/requirements.ts';
import { renderChart } from '../../scripts/lib/deploy/chart.ts';
import { valueSets } from './support/value-sets.ts';

interface ScoredObject {
  /** Kind, version, namespace and name. */
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    /** 10 is the best. */
    readonly grade: number;
    readonly skipped: boolean;
    readonly comments: readonly { readonly path: string; readonly summary: string }[] | null;
  }[];
}

/** `<object> <container>: <check>`; `*` stands for any of them. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ['* *: container-resources CPU limit', 'a throttled VPP or agent delays packets and probes'],
  ['* *: pod-networkpolicy', 'network policies do not concern pods in the network of the host'],
  [
    '* *: container-image-pull-policy',
    'tags are versions, and a node must start without a registry',
  ],
  [
    '* *: container-ephemeral-storage-request-and-limit',
    'an eviction of VPP would interrupt all pods; the folders for temporary files have limits',
  ],
  [
    'contiv-vswitch *: container-security-context-user-group-id',
    'devices, namespaces and sockets of the host belong to root',
  ],
  [
    'contiv-vswitch contiv-vpp: container-security-context-privileged',
    'Kubernetes gives devices only to privileged containers; vpp.privileged: false is without',
  ],
  [
    'contiv-stn *: container-security-context-user-group-id',
    'drivers and links of the host belong to root',
  ],
  [
    'contiv-stn contiv-stn: container-security-context-privileged',
    'it binds drivers of NICs in /sys, which is read-only in other containers',
  ],
  [
    'contiv-etcd *: container-security-context-user-group-id',
    'its folder on the node belongs to root; it has no capabilities',
  ],
  ['contiv-etcd *: service-type', 'agents in the network of the host find it at the node port'],
  [
    'contiv-etcd *: statefulset-has-servicename',
    'no member needs a name in DNS; the name is the one of Contiv/VPP, which cannot be changed',
  ],
]);

function findings(manifest: string): { object: string; container: string; check: string }[] {
  const program = findKubeProgram('kube-score')!;
  const { stdout, stderr } = spawnSync(
    program,
    ['score', '--output-format=json', '--kubernetes-version=v1.30', '-'],
    { input: manifest, encoding: 'utf8', maxBuffer: 64 << 20 },
  );
  assert.notEqual(stdout, '', stderr);
  const objects: ScoredObject[] = JSON.parse(stdout);
  return objects.flatMap(({ object_name: path, checks }) => {
    const object = path.split('/').at(-1)!;
    const failed = checks.filter(({ grade, skipped }) => !skipped && grade < 10);
    return failed.flatMap(({ check: { id }, comments }) =>
      (comments ?? [{ path: '', summary: '' }]).map(({ path: container, summary }) => ({
        object,
        container,
        check: id === 'container-resources' ? `${id} ${summary.replace(' is not set', '')}` : id,
      })),
    );
  });
}

describe('policies of kube-score', { skip: withoutKubeClients('helm', 'kube-score') }, () => {
  const used = new Set<string>();

  for (const { title, values } of valueSets)
    it(`are kept, or an exception has a reason: ${title}`, () => {
      for (const { object, container, check } of findings(renderChart(values))) {
        const candidates = [object, '*'].flatMap((name) =>
          [container, '*'].map((part) => `${name} ${part}: ${check}`),
        );
        const exception = candidates.find((each) => exceptions.has(each));
        assert.ok(exception, `${object} ${container}: ${check}`);
        used.add(exception);
      }
    });

  it('need every exception', () => {
    assert.deepEqual(
      [...exceptions.keys()].filter((each) => !used.has(each)),
      [],
    );
  });
});
