import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '#infra/clock/system.ts';
import { Drawer } from '#kvscheduler/rest/drawing/drawer.ts';
import { restOf } from '../support/rest.ts';
import { setUp } from '../support/setup.ts';

async function makeRest() {
  const bench = setUp();
  await bench.commit({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } },
    'b/1': { v: 1, needs: ['a/1', 'a/9'], any: ['x/'] },
  });
  await bench.clock.advance(1_000);
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/2': { v: 1 } });
  return restOf(bench);
}

/** The line of a node or an edge. */
async function drawn(drawer: Drawer, dot: string): Promise<string> {
  return (await drawer.draw(async () => dot)) ?? '';
}

function lineOf(dot: string, beginning: string): string {
  const line = dot.split('\n').find((one) => one.trim().startsWith(`${beginning} [`));
  assert.ok(line, `${beginning} in ${dot}`);
  return line;
}

describe('drawing of the graph', () => {
  it('has a cluster a descriptor, colors of the states, and edges', async () => {
    const ask = await makeRest();
    const { text: dot, status } = await ask('GET /scheduler/graph?format=dot');
    assert.equal(status, 200);
    assert.match(dot, /^digraph kvscheduler \{\n {2}graph \[label="KVScheduler graph - current"/);
    assert.match(dot, /subgraph "cluster_alpha" \{\n.*label="< alpha >".*"#e6ecfa"/);
    assert.match(lineOf(dot, '"a/1"'), /label="1" .*"PaleGreen"/);
    assert.match(lineOf(dot, '"a/1"'), /href="key-timeline\?key=a%2F1"/);
    assert.match(lineOf(dot, '"a/2"'), /"Orangered"/);
    assert.match(lineOf(dot, '"b/1"'), /"Pink" style="filled,dashed"/);
    assert.match(lineOf(dot, '"d/a1.0"'), /"LightYellow" color="bisque4" style="filled,rounded"/);
    assert.match(lineOf(dot, '"a/1" -> "d/a1.0"'), /"bisque4" arrowhead="invempty"/);
    assert.match(lineOf(dot, '"b/1" -> "a/1"'), /color="Black" edgetooltip="a\/1"/);
    assert.match(lineOf(dot, '"b/1" -> "a/9"'), /color="Red"/);
    assert.match(lineOf(dot, '"b/1" -> "? any of x/ ?"'), /color="Red"/);
    assert.equal((await ask('GET /scheduler/graph?format=raw')).text, dot);
  });

  it('shows what a transaction left and marks what it touched', async () => {
    const ask = await makeRest();
    const { text: dot } = await ask('GET /scheduler/graph?format=dot&txn=0');
    assert.match(dot, /label="KVScheduler graph - SeqNum #0"/);
    assert.match(lineOf(dot, '"a/1"'), /color="Gold" penwidth="2"/);
    assert.ok(!dot.includes('"a/2"'));
    const { text: next } = await ask('GET /scheduler/graph?format=dot&txn=1');
    assert.match(lineOf(next, '"a/2"'), /color="Gold"/);
    assert.doesNotMatch(lineOf(next, '"a/1"'), /Gold/);
    assert.equal((await ask('GET /scheduler/graph?txn=7')).status, 404);
  });

  it('shows a key or a prefix with its neighbors, in either direction', async () => {
    const ask = await makeRest();
    const keysOf = async (query: string) => {
      const { text, status } = await ask(`GET /scheduler/graph?format=dot&${query}`);
      assert.equal(status, 200, query);
      return [...text.matchAll(/^ {4}"([^"]*)" \[/gm)].map(([, key]) => key).sort();
    };
    assert.deepEqual(await keysOf('key=a/1'), ['a/1', 'b/1', 'd/a1.0']);
    assert.deepEqual(await keysOf('key=a/1&neighbors=0'), ['a/1']);
    assert.deepEqual(await keysOf('key=b/1'), ['a/1', 'b/1']);
    assert.deepEqual(await keysOf('key=b/1&neighbors=9999999999999999'), ['a/1', 'b/1', 'd/a1.0']);
    assert.deepEqual(await keysOf('prefix=a/&neighbors=0'), ['a/1', 'a/2']);
    const wrong = ['key=a/1&prefix=a/', 'neighbors=1', 'key=', 'prefix=', 'key=a/1&neighbors=x'];
    for (const query of [...wrong, 'key=a/1&key=b/1'])
      assert.equal((await ask(`GET /scheduler/graph?${query}`)).status, 400, query);
    assert.equal((await ask('GET /scheduler/graph?key=a/7')).status, 404);
  });

  it('is drawn, whatever the keys and values contain', async () => {
    const bench = setUp();
    const key = 'a/"<b>&\\N\n';
    await bench.commit({ [key]: { v: 1, needs: ['a/]; x [label="y'] } });
    const { status, text } = await restOf(bench)('GET /scheduler/graph');
    assert.equal(status, 200);
    assert.match(text, /^<\?xml[\s\S]*<svg [\s\S]*<\/svg>\s*$/);
    assert.equal(text.match(/class="node"/g)?.length, 2);
    assert.equal(text.match(/class="edge"/g)?.length, 1);
    assert.ok(text.includes('&quot;&lt;b&gt;&amp;\\N'), text);
    assert.ok(text.includes(`key-timeline?key=${encodeURIComponent(key)}`));
  });

  it('is drawn one at a time', async () => {
    const drawer = new Drawer(systemClock);
    const first = drawn(drawer, 'digraph { a -> b }');
    await assert.rejects(drawn(drawer, 'digraph { c }'), { name: 'BusyError', status: 503 });
    assert.match(await first, /<svg/);
    assert.match(await drawn(drawer, 'digraph { c }'), /<svg/);
  });

  it('is answered with 503 while another one is drawn, but for the text that is drawn', async () => {
    const ask = await makeRest();
    const first = ask('GET /scheduler/graph');
    const second = await ask('GET /scheduler/graph?key=a/1');
    assert.deepEqual(
      [second.status, second.body?.Error.split(':')[0]],
      [503, 'another graph is being drawn'],
    );
    assert.equal((await ask('GET /scheduler/graph?format=dot')).status, 200);
    assert.equal((await first).status, 200);
    assert.equal((await ask('GET /scheduler/graph?key=a/1')).status, 200);
  });

  it('reports an error when it cannot be drawn, and continues', async () => {
    const drawer = new Drawer(systemClock);
    await assert.rejects(drawn(drawer, 'digraph {'), {
      code: 'CV_SCHED_DRAWING',
      message: /syntax error/,
    });
    assert.match(await drawn(drawer, 'digraph { c }'), /<svg/);
  });

  it('is given up when it takes too long', async () => {
    const { clock } = setUp();
    const drawer = new Drawer(clock);
    const edges = Array.from({ length: 3_000 }, (_, i) => `n${i % 300} -> n${(i * 7) % 311}`);
    const large = drawn(drawer, `digraph { ${edges.join('; ')} }`);
    let isGivenUp = false;
    const refused = assert.rejects(large, { message: 'the graph: no result within 20 s' });
    void refused.finally(() => {
      isGivenUp = true;
    });
    // The limit begins when the thread has started.
    while (!isGivenUp) {
      await clock.advance(20_000);
      await setImmediate();
    }
    await refused;
    assert.match(await drawn(drawer, 'digraph { c }'), /<svg/);
  });
});
