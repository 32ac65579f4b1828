/** Arguments of the scheduler's routes: accepted ones, and errors of the others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { makeBench, restOf } from '../support/rest.ts';
import { setUp } from '../support/setup.ts';

describe('malformed arguments', () => {
  const cases: [string, RegExp][] = [
    ['GET /scheduler/dump?descripter=alpha', /unknown argument descripter.*descriptor, key-prefix/],
    ['GET /scheduler/dump?descriptor=alpha&key-prefix=a/', /cannot be combined/],
    ['GET /scheduler/dump?descriptor=alpha&view=nb', /view="nb" must be one of SB, NB, cached/],
    ['GET /scheduler/dump?descriptor=alpha&state=cached', /one of SB, NB, internal/],
    ['GET /scheduler/dump?descriptor=alpha&state=NB&view=NB', /cannot be combined/],
    ['GET /scheduler/dump?view=NB', /descriptor or key-prefix/],
    [
      'GET /scheduler/dump?descriptor=alpha&view=NB&view=SB',
      /view is given 2 times, but is accepted once/,
    ],
    ['GET /scheduler/status?key=', /key="" must be the key of a value/],
    ['GET /scheduler/status?key=a/1&key=a/2', /key is given 2 times/],
    ['GET /scheduler/txn-history?seq-num=0&since=0', /seq-num cannot be combined/],
    ['GET /scheduler/txn-history?seq-num=', /seq-num="" has to be a whole number/],
    ['GET /scheduler/txn-history?since=', /since="" must be Unix time/],
    ['GET /scheduler/flag-stats?flag=error&flag=derived', /flag is given 2 times/],
    ['POST /scheduler/plan?mode=update', /unknown argument mode; none is accepted/],
    ['POST /scheduler/downstream-resync?retry=1&retry=0', /retry is given 2 times/],
    ['GET /scheduler/status?keys=a/1', /unknown argument keys.*key, descriptor/],
    ['GET /scheduler/txn-history?format=xml', /format="xml" must be one of json, text/],
    ['GET /scheduler/txn-history?seq-num=-1', /seq-num="-1" has to be a whole number/],
    ['GET /scheduler/txn-history?since=yesterday', /Unix time or RFC 3339/],
    ['GET /scheduler/txn-history?until=2026-02-30T00:00:00Z', /Unix time or RFC 3339/],
    ['GET /scheduler/txn-history?until=2026-02-20T25:00:00Z', /Unix time or RFC 3339/],
    ['GET /scheduler/txn-history?until=2026-02-20', /Unix time or RFC 3339/],
    ['GET /scheduler/key-timeline', /key is missing/],
    ['GET /scheduler/key-timeline?key=', /key is missing/],
    ['GET /scheduler/key-timeline?key=a/1&time=now', /Unix time or RFC 3339/],
    ['GET /scheduler/graph-snapshot?time=x', /Unix time or RFC 3339/],
    ['GET /scheduler/graph-snaphost?at=0', /unknown argument at.*accepted: time/],
    ['GET /scheduler/flag-stats', /flag is missing: one of last-update, error/],
    ['GET /scheduler/flag-stats?flag=color', /flag="color" must be one of last-update/],
    ['GET /scheduler/graph?format=png', /format="png" must be one of svg, dot, raw/],
    ['GET /scheduler/graph?txn=last', /txn="last" has to be a whole number/],
    ['GET /scheduler/stats?verbose=1', /unknown argument verbose; none is accepted/],
    ['POST /scheduler/downstream-resync?retry=yes', /retry="yes" must be one of 1, true, 0/],
    ['POST /scheduler/downstream-resync?verbose=', /verbose="" must be one of 1, true/],
  ];
  for (const [call, text] of cases)
    it(call, async () => {
      const answer = await restOf(setUp())(call);
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, text);
    });
});

describe('random requests', () => {
  const names = ['key', 'key-prefix', 'descriptor', 'view', 'state', 'time', 'since', 'until'];
  const more = ['seq-num', 'txn', 'format', 'flag', 'prefix', 'retry', 'verbose'];
  const moments = ['0', '1767225600000000000', '2026-01-01T00:01:00.5Z', '9999999999999999999'];
  const words = ['', 'a/', 'a/1', 'd/a1.0', 'alpha', 'NB', 'internal', 'text', 'dot', 'error', '1'];
  const others = ['-1', '1e3', '%', '__proto__', 'constructor', '\u0000', '99999999999999999999'];
  const paths = ['dump', 'status', 'txn-history', 'key-timeline', 'graph-snapshot', 'flag-stats'];

  it('is answered, or rejected with the accepted arguments', async ({ name }) => {
    const bench = await makeBench();
    const ask = restOf(bench);
    const one = fc.tuple(
      fc.constantFrom(...names, ...more, '__proto__', 'x'),
      fc.constantFrom(...moments, ...words, ...others),
    );
    await checkProperty(
      { file: 'test/kvscheduler/rest/arguments.test.ts', name },
      400,
      fc.asyncProperty(
        fc.constantFrom(...paths, 'stats', 'graph-snaphost'),
        fc.array(one, { maxLength: 3 }),
        async (path, query) => {
          const call = `GET /scheduler/${path}?${new URLSearchParams(query)}`;
          const { status, text } = await ask(call);
          assert.ok([200, 400, 404, 500].includes(status), `${call}: ${status}`);
          if (status === 500)
            assert.match(text, /: descriptor does not support Retrieve operation/, call);
          if (status === 400)
            assert.match(text, /accepted|must be|has to be|cannot be combined|missing/);
        },
      ),
    );
  });
});
