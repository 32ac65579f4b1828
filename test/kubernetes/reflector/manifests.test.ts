import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#kubernetes/reflector/manifest-problem.ts';
import { readManifests } from '#kubernetes/reflector/manifests.ts';

const FILE = 'shop.yaml';

function read(text: string) {
  const { objects, problems } = readManifests(text, FILE);
  return {
    names: objects.map(({ object }) => (object as { name: string }).name),
    lines: objects.map(({ source }) => source.line),
    documents: objects.map(({ source }) => source.document),
    problems: problems.map(problemText),
  };
}

test('documents are counted and located; empty ones are not', () => {
  assert.deepEqual(read('---\n# nothing\n---\nname: a\n---\n---\n\n# comment\nname: b\n---'), {
    names: ['a', 'b'],
    lines: [4, 9],
    documents: [1, 2],
    problems: [],
  });
  assert.deepEqual(read(''), { names: [], lines: [], documents: [], problems: [] });
});

test('content after the marker, Windows line ends and directives are accepted', () => {
  assert.deepEqual(read('--- {name: a}\r\n---\r\nname: b\r\n').names, ['a', 'b']);
  assert.deepEqual(read('%YAML 1.2\n---\nname: a\n...\n---\nname: b\n').names, ['a', 'b']);
  assert.deepEqual(read('\ufeffname: a\n').names, ['a']);
});

test('three dashes inside a text do not end the document', () => {
  const { objects } = readManifests('name: |\n  a\n  ---\n  b\n', FILE);
  assert.deepEqual(objects[0]?.object, { name: 'a\n---\nb\n' });
});

test('a syntax error names file, line and column, and the other documents are read', () => {
  const { names, lines, problems } = read(
    'name: a\n---\nname: "b\nkind: Pod\n---\nname: c\n---\nd: [1\n---\nname: e\n',
  );
  assert.deepEqual(names, ['a', 'c', 'e']);
  assert.deepEqual(lines, [1, 6, 10]);
  assert.equal(problems.length, 2);
  assert.match(problems[0] ?? '', /^shop\.yaml:5:1 \(document 2\): not valid YAML: /);
  assert.match(problems[1] ?? '', /^shop\.yaml:9:1 \(document 4\): not valid YAML: /);
});

test('a duplicate key is an error, as for kubectl', () => {
  const { names, problems } = read('name: a\nname: b\n');
  assert.deepEqual(names, []);
  assert.match(problems[0] ?? '', /^shop\.yaml:2:1 .*unique/);
});

test('an unrendered template is an error, not a crash', () => {
  assert.equal(read('{{- if .Values.on }}\nname: a\n{{- end }}\n').problems.length, 1);
});

test('aliases are resolved, up to a limit', () => {
  assert.deepEqual(readManifests('a: &x {b: 1}\nc:\n  <<: *x\n', FILE).objects[0]?.object, {
    a: { b: 1 },
    c: { b: 1 },
  });
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let n = 1; n < 9; n++) bomb.push(`a${n}: &a${n} [${`*a${n - 1}, `.repeat(9)}]`);
  const { names, problems } = read(`${bomb.join('\n')}\n---\nname: b\n`);
  assert.deepEqual(names, ['b']);
  assert.match(problems[0] ?? '', /^shop\.yaml:1 \(document 1\): /);
});

test('too deep nesting is an error', () => {
  const { names, problems } = read(`${'['.repeat(100_000)}\n---\nname: b\n`);
  assert.deepEqual(names, ['b']);
  assert.equal(problems.length, 1);
});

test('lists are replaced by their items, each with its line', () => {
  const list = [
    'apiVersion: v1',
    'kind: List',
    'items:',
    '  - {name: a}',
    '  - kind: List',
    '    items:',
    '      - name: b',
    '      - name: c',
  ].join('\n');
  const { names, lines } = read(list);
  assert.deepEqual(names, ['a', 'b', 'c']);
  assert.deepEqual(lines, [4, 7, 8]);
});

test('items of a list of one kind get its apiVersion and kind', () => {
  const text = '{"apiVersion": "v1", "kind": "PodList", "items": [{"name": "a"}, 7]}';
  assert.deepEqual(
    readManifests(text, 'pods.json').objects.map(({ object }) => object),
    [{ apiVersion: 'v1', kind: 'Pod', name: 'a' }, 7],
  );
});

test('a problem is one line of text', () => {
  const place = { file: FILE, document: 3, line: 12 };
  const what = { kind: 'Service', name: 'shop/web', reason: 'must have spec' };
  assert.equal(
    problemText({ ...place, ...what }),
    'shop.yaml:12 (document 3): Service shop/web: must have spec',
  );
});
