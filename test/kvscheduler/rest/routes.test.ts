/** REST of the scheduler, route by route. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeBench, restOf } from '../support/rest.ts';
import { setUp } from '../support/setup.ts';

const MINUTE = 60_000;
const nanoseconds = (ms: number) => `${Math.round(ms)}000000`;
const rfc3339 = (ms: number) => new Date(ms).toISOString();

describe('/scheduler/dump', () => {
  it('lists descriptors, prefixes and views without arguments', async () => {
    const { body } = await restOf(setUp())('GET /scheduler/dump');
    assert.deepEqual(body, {
      Descriptors: ['alpha', 'beta', 'derived'],
      KeyPrefixes: ['a/', 'b/'],
      Views: ['SB', 'NB', 'cached'],
    });
  });

  it('distinguishes desired, known and found values', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    bench.southbound.changeExternally('a/f0', { v: 5 });
    const keys = async (view: string) =>
      (await ask(`GET /scheduler/dump?descriptor=alpha${view}`)).body.map(
        ({ Key, Origin }: { Key: string; Origin: number }) => `${Key} ${Origin}`,
      );
    assert.deepEqual(await keys('&view=NB'), ['a/1 1', 'a/2 1']);
    assert.deepEqual(await keys('&view=cached'), ['a/1 1']);
    assert.deepEqual(await keys(''), ['a/1 1', 'a/f0 2']);
    const [value] = (await ask('GET /scheduler/dump?descriptor=beta&view=cached')).body;
    assert.deepEqual(value, {
      Key: 'b/1',
      Value: { ProtoMsgName: 'test.beta', ProtoMsgData: { v: 2 } },
      Origin: 1,
      Metadata: 2,
    });
  });

  it('answers netctl and contiv-crd with plain values, and agentctl with the JSON as a string', async () => {
    const ask = restOf(await makeBench());
    const dump = async (query: string) => (await ask(`GET /scheduler/dump?${query}`)).body;
    const plain = [{ Key: 'b/1', Value: { v: 2 }, Metadata: 2, Origin: 1 }];
    assert.deepEqual(await dump('descriptor=beta&state=internal'), plain);
    assert.equal((await dump('descriptor=beta&state=SB'))[0].Value.v, 2);
    const desired = await dump('descriptor=beta&state=NB');
    assert.deepEqual(await dump('descriptor=beta&view=NB'), desired);
    assert.deepEqual(desired[0].Value, { v: 2 });
    const named = { ProtoMsgName: 'test.beta', ProtoMsgData: '{"v":2}' };
    assert.deepEqual(await dump('key-prefix=b/&view=cached'), [{ ...plain[0], Value: named }]);
    assert.equal(typeof (await dump('key-prefix=b/'))[0].Value.ProtoMsgData, 'string');
  });

  it('accepts every time since 1970, as the original does', async () => {
    const ask = restOf(await makeBench());
    assert.deepEqual((await ask('GET /scheduler/txn-history?since=1&until=2')).body, []);
    assert.equal((await ask('GET /scheduler/txn-history?since=1')).body.length, 2);
    assert.equal((await ask('GET /scheduler/key-timeline?key=a/1&time=1')).status, 200);
    assert.equal((await ask('GET /scheduler/graph-snapshot?time=1')).status, 200);
  });

  it('spells the last operation in both ways, and puts no unknown field into a value', async () => {
    const bench = await makeBench();
    await bench.commit({ 'a/1': { v: 2, invalid: true } });
    const { body } = await restOf(bench)('GET /scheduler/status?key=a/1');
    assert.deepEqual(body.value.lastOperation, body.value.last_operation);
    assert.equal(body.last_valid_state, 'CONFIGURED');
    const known = ['key', 'state', 'error', 'last_operation', 'lastOperation', 'details'];
    for (const field of Object.keys(body.value)) assert.ok(known.includes(field), field);
  });

  it('answers 503 when the queue is full, except for views that need no queue', async () => {
    const bench = setUp();
    bench.southbound.repliesAfter = new Promise(() => undefined);
    void bench.commit({ 'a/1': { v: 1 } });
    await bench.clock.turn();
    const ask = restOf(bench);
    for (let i = 0; i < 200; i++) void ask('GET /scheduler/dump?descriptor=alpha');
    const { status, text, body } = await ask('GET /scheduler/dump?descriptor=alpha');
    assert.deepEqual([status, body?.Error], [503, '200 transactions are waiting'], text);
    assert.equal((await ask('GET /scheduler/dump?descriptor=alpha&view=NB')).status, 200);
  });

  it('answers 404 for an unknown descriptor, and reports why it could not read', async () => {
    const bench = setUp();
    const ask = restOf(bench);
    assert.equal((await ask('GET /scheduler/dump?descriptor=gamma')).status, 404);
    assert.equal((await ask('GET /scheduler/dump?key-prefix=a')).status, 404);
    const { status, body } = await ask('GET /scheduler/dump?descriptor=derived');
    assert.deepEqual(
      [status, body],
      [500, { Error: 'derived: descriptor does not support Retrieve operation' }],
    );
  });
});

describe('/scheduler/status', () => {
  it('gives a value with what it derives, those of a descriptor or prefix, or all', async () => {
    const ask = restOf(await makeBench());
    const keys = async (query: string) =>
      (await ask(`GET /scheduler/status?${query}`)).body.map(
        ({ value }: { value: { key: string } }) => value.key,
      );
    const created = { state: 'CONFIGURED', last_operation: 'CREATE', lastOperation: 'CREATE' };
    assert.deepEqual((await ask('GET /scheduler/status?key=d/a1.0')).body, {
      value: { key: 'a/1', ...created },
      derived_values: [{ key: 'd/a1.0', ...created }],
    });
    assert.deepEqual((await ask('GET /scheduler/status?key=a/2')).body.value.details, ['b/9']);
    assert.deepEqual((await ask('GET /scheduler/status?key=x')).body, {
      value: { key: 'x', state: 'NONEXISTENT' },
    });
    assert.deepEqual(await keys('descriptor=alpha'), ['a/1', 'a/2']);
    assert.deepEqual(await keys('key-prefix=b/'), ['b/1']);
    assert.deepEqual(await keys(''), ['a/1', 'a/2', 'b/1']);
    assert.equal((await ask('GET /scheduler/status?descriptor=gamma')).status, 404);
  });
});

describe('/scheduler/txn-history', () => {
  it('gives what ran in a window, with times in either form', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    const now = bench.clock.now();
    const numbers = async (query: string) =>
      (await ask(`GET /scheduler/txn-history?${query}`)).body.map(
        ({ SeqNum }: { SeqNum: number }) => SeqNum,
      );
    assert.deepEqual(await numbers(''), [0, 1]);
    assert.deepEqual(await numbers(`since=${nanoseconds(now - 1)}`), [1]);
    const seconds = Math.floor(now / 1000);
    assert.deepEqual(await numbers(`since=${seconds + 2}`), []);
    assert.deepEqual(await numbers(`until=${seconds + 2}`), [0, 1]);
    assert.deepEqual(await numbers(`since=${rfc3339(now - 1)}`), [1]);
    assert.deepEqual(await numbers(`until=${nanoseconds(now - 1)}`), [0]);
    assert.deepEqual(await numbers(`until=${rfc3339(now)}`), [0, 1]);
    // One second later, said two hours to the east; once with the plus sign as it is.
    const east = rfc3339(now + 7_201_000).replace('Z', '+02:00');
    assert.deepEqual(await numbers(`since=${encodeURIComponent(east)}`), []);
    assert.deepEqual(await numbers(`until=${east}`), [0, 1]);
    assert.deepEqual(await numbers('since=0'), [0, 1]);
    assert.deepEqual(await numbers(`since=${nanoseconds(now)}&until=${nanoseconds(now - 1)}`), []);
  });

  it('finds a record by the times that it shows itself', async () => {
    const bench = setUp();
    const ask = restOf(bench);
    await bench.clock.advance(0.1234567);
    await bench.commit({ 'a/1': { v: 1 } });
    await bench.clock.advance(0.9996);
    await bench.commit({ 'a/1': { v: 2 } });
    for (const { SeqNum, Start, Stop } of (await ask('GET /scheduler/txn-history')).body) {
      const { body } = await ask(`GET /scheduler/txn-history?since=${Start}&until=${Stop}`);
      assert.deepEqual(
        body.map((one: { SeqNum: number }) => one.SeqNum),
        [SeqNum],
      );
    }
  });

  it('gives nothing for a window that ends before it begins', async () => {
    const bench = setUp();
    bench.southbound.replies = 'turn';
    const running = bench.commit({ 'a/1': { v: 1 } });
    await bench.clock.turn();
    const middle = bench.clock.now() + MINUTE / 2;
    bench.clock.jump(MINUTE);
    await running;
    const ask = restOf(bench);
    const numbers = async (since: number, until: number) =>
      (await ask(`GET /scheduler/txn-history?since=${rfc3339(since)}&until=${rfc3339(until)}`)).body
        .length;
    assert.equal(await numbers(middle, middle + 1), 1);
    assert.equal(await numbers(middle + 1, middle), 0);
  });

  it('gives one record, or 404', async () => {
    const ask = restOf(await makeBench());
    assert.equal((await ask('GET /scheduler/txn-history?seq-num=1')).body.Executed[0].Key, 'a/2');
    assert.equal((await ask('GET /scheduler/txn-history?seq-num=2')).status, 404);
  });

  it('gives text', async () => {
    const ask = restOf(await makeBench());
    const { text, body } = await ask('GET /scheduler/txn-history?format=text');
    assert.equal(body, undefined);
    assert.match(text, /^\+=+\+\n\| Transaction #0 +NB transaction \|\n/);
    assert.match(text, / 1\. CREATE:\n +- key: a\/1\n/);
    assert.match(text, /\| Transaction #1 /);
    const one = await ask('GET /scheduler/txn-history?format=text&seq-num=1');
    assert.ok(text.includes(one.text) && !one.text.includes('#0'));
  });
});

describe('/scheduler/key-timeline, /scheduler/graph-snapshot, /scheduler/flag-stats', () => {
  it('give a key over time and at a time', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    bench.southbound.fails = () => new Error('no "quotes"\n');
    await bench.commit({ 'b/1': { v: 3 } });
    const { body } = await ask('GET /scheduler/key-timeline?key=b/1');
    const states = body.map(({ Flags }: { Flags: Record<string, string> }) => Flags['value-state']);
    assert.deepEqual(states, ['CONFIGURED', 'FAILED']);
    assert.equal(body[1].Flags.error, 'no "quotes"\n');
    const at = async (time: string) =>
      (await ask(`GET /scheduler/key-timeline?key=b/1&time=${time}`)).body;
    assert.deepEqual(await at(body[0].Since), body[0]);
    assert.deepEqual(await at(nanoseconds(bench.clock.now())), body[1]);
    assert.equal(await at('2020-01-01T00:00:00Z'), null);
    assert.deepEqual((await ask('GET /scheduler/key-timeline?key=none')).body, []);
  });

  it('give the last revisions of a key itself, without its relations', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    // Adds a relation of b/1 in between, which is no revision of its own.
    await bench.commit({ 'b/1': { v: 3, any: ['a/'] } });
    await bench.clock.advance(1_000);
    await bench.commit({ 'a/3': { v: 1 } });
    await bench.clock.advance(1_000);
    await bench.commit({ 'b/1': { v: 4, any: ['a/'] } });
    const all = (await ask('GET /scheduler/key-timeline?key=b/1')).body;
    const own = all.filter((one: { TargetUpdateOnly: boolean }) => !one.TargetUpdateOnly);
    const last = async (count: number) =>
      (await ask(`GET /scheduler/key-timeline?key=b/1&last=${count}`)).body;
    const valuesOf = (nodes: { Value: unknown }[]) => nodes.map(({ Value }) => Value);
    assert.ok(own.length > 2 && all.length > own.length);
    assert.deepEqual(valuesOf(await last(2)), valuesOf(own.slice(-2)));
    assert.deepEqual(valuesOf(await last(99)), valuesOf(own));
    assert.deepEqual((await last(1))[0].Targets, []);
    assert.deepEqual(await last(0), []);
    assert.deepEqual((await ask('GET /scheduler/key-timeline?key=none&last=1')).body, []);
    const both = 'GET /scheduler/key-timeline?key=b/1&last=1&time=1';
    assert.equal((await ask(both)).status, 400);
  });

  it('give the graph under both spellings', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    const now = await ask('GET /scheduler/graph-snapshot');
    const keys = ({ body }: typeof now) => body.map(({ Key }: { Key: string }) => Key);
    assert.deepEqual(keys(now), ['a/1', 'a/2', 'b/1', 'd/a1.0']);
    assert.equal((await ask('GET /scheduler/graph-snaphost')).text, now.text);
    const before = nanoseconds(bench.clock.now() - 1);
    assert.deepEqual(keys(await ask(`GET /scheduler/graph-snapshot?time=${before}`)), [
      'a/1',
      'b/1',
      'd/a1.0',
    ]);
  });

  it('report a time that has expired', async () => {
    const bench = setUp({ history: { ageMs: MINUTE, initMs: 0, bytes: 1e6 } });
    const ask = restOf(bench);
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 1 } });
    const then = bench.clock.now();
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 2 } });
    await bench.clock.advance(2 * MINUTE);
    await bench.commit({ 'a/2': { v: 2 } });
    for (const query of ['graph-snapshot?', 'key-timeline?key=a/1&']) {
      const answer = await ask(`GET /scheduler/${query}time=${nanoseconds(then)}`);
      assert.deepEqual(
        [answer.status, answer.body.Error],
        [404, 'the graph of that time has expired'],
      );
    }
    const now = await ask(`GET /scheduler/key-timeline?key=a/1&time=${nanoseconds(then + MINUTE)}`);
    assert.equal(now.body.Key, 'a/1');
  });

  it('count flags', async () => {
    const ask = restOf(await makeBench());
    const { body } = await ask('GET /scheduler/flag-stats?flag=value-state&prefix=a/&prefix=b/');
    assert.deepEqual(body, { TotalCount: 3, PerValueCount: { CONFIGURED: 2, PENDING: 1 } });
  });
});

describe('/scheduler/downstream-resync', () => {
  it('reconciles and returns the record', async () => {
    const bench = await makeBench();
    bench.southbound.values.delete('b/1');
    const { status, body } = await restOf(bench)('POST /scheduler/downstream-resync');
    assert.equal(status, 200);
    assert.equal(body.ResyncType, 'DownstreamResync');
    assert.deepEqual(
      body.Executed.map(({ Operation, Key, Reason }: Record<string, string>) => [
        Operation,
        Key,
        Reason,
      ]),
      [['CREATE', 'b/1', 'missing']],
    );
    assert.ok(bench.southbound.values.has('b/1'));
  });

  it('deletes nothing of an earlier run while the desired state is not known', async () => {
    const bench = setUp();
    bench.southbound.values.set('a/8', { spec: { v: 8 }, managed: true });
    const ask = restOf(bench);
    for (const route of ['POST /scheduler/downstream-resync', 'GET /scheduler/drift']) {
      const { status, body } = await ask(route);
      assert.equal(status, 409, route);
      assert.match(body.Error, /not known before the first resync; GET \/readiness says/);
    }
    assert.ok(bench.southbound.values.has('a/8'));
    await bench.commit({ 'a/8': { v: 8 } }, { mode: 'full-resync' });
    assert.deepEqual((await ask('GET /scheduler/drift')).body.Differences, []);
    assert.equal((await ask('POST /scheduler/downstream-resync')).status, 200);
    assert.ok(bench.southbound.values.has('a/8'));
  });

  it('answers 500 with every failure, and retries only with retry=1', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    let times = 0;
    bench.southbound.values.delete('b/1');
    bench.southbound.fails = () => (times++ < 2 ? new Error('busy') : undefined);
    const plain = await ask('POST /scheduler/downstream-resync?retry=0');
    assert.deepEqual([plain.status, plain.body.Error], [500, 'KeyErrors: [b/1 (CREATE): busy]']);
    await bench.clock.advance(MINUTE);
    assert.equal(bench.state('b/1'), 'FAILED');
    const retrying = await ask('POST /scheduler/downstream-resync?retry=true');
    assert.equal(retrying.status, 500);
    assert.equal(bench.state('b/1'), 'RETRYING');
    await bench.clock.advance(1_000);
    assert.equal(bench.state('b/1'), 'CONFIGURED');
  });

  it('prints the graph as it was found with verbose=1', async () => {
    const printed: string[] = [];
    const bench = setUp({ writer: { write: (text) => printed.push(text) } });
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1, needs: ['b/9'] } });
    bench.southbound.values.delete('a/1');
    await restOf(bench)('POST /scheduler/downstream-resync');
    assert.ok(!printed.join('').includes('graph as it was found'));
    bench.southbound.values.delete('a/1');
    await restOf(bench)('POST /scheduler/downstream-resync?verbose=1');
    const text = printed.join('');
    assert.match(text, /graph as it was found:\n +- a\/1 \[MISSING, unavailable\]: \{ v:1 \}\n/);
    assert.match(text, /- a\/2 \[PENDING, unavailable\]: \{ v:1 needs:"b\/9" \}\n/);
    assert.ok(text.indexOf('graph as it was found') < text.lastIndexOf('CREATE'));
  });
});

describe('/scheduler/stats', () => {
  it('counts transactions, operations, states, errors and calls', async () => {
    const bench = await makeBench();
    bench.southbound.fails = () => new Error('no');
    await bench.commit({ 'b/1': null });
    const { body } = await restOf(bench)('GET /scheduler/stats');
    const { TotalProcessed, OperationCount, ValueStateCount, ErrorCount, Methods } = body.TxnStats;
    assert.equal(TotalProcessed, 3);
    assert.deepEqual(OperationCount, { CREATE: 4, UPDATE: 0, DELETE: 1 });
    assert.deepEqual(ValueStateCount, { CONFIGURED: 3, PENDING: 1, FAILED: 1 });
    assert.equal(ErrorCount, 1);
    const names = Methods.map(({ name }: { name: string }) => name).sort();
    assert.deepEqual(names, [
      'executeTransaction',
      'postProcessTransaction',
      'preProcessTransaction',
      'preRecordTransaction',
      'processTransaction',
      'recordTransaction',
      'simulateTransaction',
    ]);
    assert.deepEqual(Object.keys(body.Descriptors).sort(), ['alpha', 'beta', 'derived']);
    assert.deepEqual(body.Descriptors.beta, [
      { name: 'Create', count: 1, total: 0, avg: 0, min: 0, max: 0 },
      { name: 'Delete', count: 1, total: 0, avg: 0, min: 0, max: 0 },
      { name: 'Retrieve', count: 1, total: 0, avg: 0, min: 0, max: 0 },
    ]);
    assert.equal(body.AllDescriptors[0].name, 'Create');
    assert.equal(body.AllDescriptors[0].count, 3);
    assert.equal(body.GraphMethods.length, 2);
  });
});
