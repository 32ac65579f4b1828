/** The problems that `netctl status` reads from the documents of agents. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { clusterProblems } from '#netctl/status/cluster-problems.ts';
import { components } from '#netctl/status/components.ts';
import { probeProblems, reportedProblems } from '#netctl/status/node-problems.ts';
import { InterfaceNotFoundError, NodeConfigError } from '#plugins/contivconf/errors.ts';
import { problemsText, problemText } from '#plugins/controller/problems.ts';

describe('the text of a component', () => {
  const first = new NodeConfigError('is no address; it is ignored', { where: 'spec.gateway' });
  const second = new InterfaceNotFoundError('does not exist', { where: 'eth7' });

  it('is divided at the remedies of its problems', () => {
    const text = problemsText([first, second].map(problemText))!;
    assert.deepEqual(reportedProblems(text), [
      {
        text: 'spec.gateway: is no address; it is ignored',
        code: first.code,
        remedy: first.remedy,
      },
      { text: 'eth7: does not exist', code: second.code, remedy: second.remedy },
    ]);
  });

  it('keeps what has no code', () => {
    assert.deepEqual(reportedProblems('VPP disconnected'), [{ text: 'VPP disconnected' }]);
    assert.deepEqual(reportedProblems(''), [{ text: '' }]);
    const many = Array.from({ length: 12 }, (_, at) => new NodeConfigError(`number ${at}`));
    const reported = reportedProblems(problemsText(many.map(problemText))!);
    assert.equal(reported.length, 11);
    assert.deepEqual(reported.at(-1), { text: 'and 2 more' });
  });
});

describe('the problems of a node', () => {
  const probe = (PluginStatus: Record<string, object>) =>
    probeProblems({ plugins: [], NonFatalPlugins: null, PluginStatus: PluginStatus as never });

  it('are the components that are not OK, with their remedies', () => {
    const [vpp, policies, etcd, newer, ...more] = probe({
      controller: { name: 'controller', state: 1 },
      vpp: { name: 'vpp', state: 2, error: 'VPP disconnected', last_change: 7 },
      policies: { name: 'policies', state: 2, error: 'permit less than defined: a/b' },
      etcd: { name: 'etcd' },
      newer: { name: 'newer', state: 2 },
    });
    assert.deepEqual(vpp, {
      component: 'vpp',
      severity: 'error',
      text: 'VPP disconnected',
      code: undefined,
      remedy: components['vpp']!.remedy,
      since: 7,
    });
    assert.equal(policies!.severity, 'warning');
    assert.equal(etcd!.text, 'has not started yet');
    assert.equal(newer!.text, 'is in error');
    assert.deepEqual(more, []);
  });

  it('are listed once for all nodes that have them, errors first', () => {
    const policies = probe({ policies: { state: 2, error: 'less', last_change: 1 } });
    const vpp = (last_change: number) => probe({ vpp: { state: 2, error: 'gone', last_change } });
    const problems = clusterProblems([
      { name: 'a', problems: policies },
      { name: 'b', problems: [...policies, ...vpp(5)] },
      { name: 'c', problems: vpp(3) },
    ]);
    assert.deepEqual(
      problems.map(({ component, nodes }) => [component, nodes]),
      [
        [
          'vpp',
          [
            { name: 'b', since: 5 },
            { name: 'c', since: 3 },
          ],
        ],
        [
          'policies',
          [
            { name: 'a', since: 1 },
            { name: 'b', since: 1 },
          ],
        ],
      ],
    );
  });
});

describe('the components', () => {
  it('are those that agents register, with what their errors fail', () => {
    const folders = ['plugins', 'src/cmd/agent', 'src/vpp', 'src/kvscheduler', 'src/infra'];
    const found = folders
      .flatMap((folder) => globSync(`${folder}/**/*.ts`))
      .flatMap((path) => [
        ...readFileSync(path, 'utf8').matchAll(/register(?:Problem)?\('([a-z-]+)', '(\w+)'/g),
      ])
      .map(([, name = '', affects = '']) => [name, affects === 'none' ? 'nothing' : affects]);
    assert.ok(found.length > 15);
    for (const [name = '', fails] of found) assert.equal(components[name]?.fails, fails, name);
  });
});
