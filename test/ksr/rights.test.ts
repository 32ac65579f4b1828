import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createReflector } from '#ksr/records/reflector.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

test('the role of contiv-ksr in deploy/ permits to list and watch what is reflected', () => {
  const { rules } = parseAllDocuments(readFileSync('deploy/contiv-vswitch.yaml', 'utf8'))
    .map((document) => document.toJS())
    .find(({ kind }) => kind === 'ClusterRole') as { rules: readonly Rule[] };
  const reads = rules.filter(({ verbs }) => verbs.join() === 'list,watch');
  const permitted = reads.flatMap(({ apiGroups: [group], resources }) =>
    resources.map((resource) => `${group} ${resource}`),
  );
  const { watches } = createReflector({
    prefix: '/',
    readers: 'mixed',
    clock: new ManualClock(),
    log: silentLogger,
  });
  const watched = watches.map(({ kind: { path } }) => {
    const [root, group, version, plural] = path.slice(1).split('/');
    return root === 'api' ? ` ${version}` : `${group} ${plural}`;
  });
  assert.deepEqual(permitted.sort(), watched.sort());
});
