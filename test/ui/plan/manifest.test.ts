import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManifestError, manifestObjects } from '../../../ui/src/views/plan/manifest.ts';

const names = async (text: string): Promise<unknown[]> =>
  (await manifestObjects(text)).map(({ kind, metadata }) => [kind, metadata]);

describe('objects of a manifest', () => {
  it('are read from several documents, lists, and JSON', async () => {
    assert.deepEqual(
      await names('kind: Pod\nmetadata: a\n---\n---\nkind: Service\nmetadata: b\n'),
      [
        ['Pod', 'a'],
        ['Service', 'b'],
      ],
    );
    assert.deepEqual(await names('{"kind":"List","items":[{"kind":"Pod","metadata":"a"}]}'), [
      ['Pod', 'a'],
    ]);
    assert.deepEqual(await names('kind: ServiceList\nitems: [{ metadata: a }]'), [
      ['Service', 'a'],
    ]);
  });

  for (const [what, text, problem] of [
    ['an unterminated quote', 'kind: Pod\n---\nname: "', /^Document 2: /],
    ['a list without kind', '- 1', /^Document 1 is no object/],
    ['an object without kind', 'metadata: {}', /^An object without kind cannot be planned/],
    ['another kind', 'kind: Node', /^Node cannot be planned. The kinds are/],
    ['no document', '# nothing', /^There is no object/],
    ['too much text', `# ${'ä'.repeat(600_000)}`, /^The text has 1.2 MB/],
    [
      'aliases that multiply',
      `a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [${Array(10).fill('*a')}]\nc: &c [${Array(10).fill('*b')}]\nd: [${Array(10).fill('*c')}]`,
      /^Document 1: .*alias/i,
    ],
  ] as const)
    it(`are not read from ${what}`, async () => {
      await assert.rejects(
        manifestObjects(text),
        (error) => error instanceof ManifestError && problem.test(error.message),
      );
    });
});
