import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '#infra/errors/errors.ts';
import { pod, pods, WatchedCluster } from '../support/watched-cluster.ts';

const LIST = `list ${pods.path}`;
const watchFrom = (revision: number) => `watch ${pods.path} from ${revision}`;

const code = (error: Error | undefined) => (error instanceof CodedError ? error.code : error?.name);

test('a list comes in parts, then changes come in order', async () => {
  using watched = new WatchedCluster((cluster) => {
    for (let i = 0; i < 1100; i++) cluster.put(pods.path, pod(`pod-${i}`));
  });
  const { cluster, view, watch } = watched;
  assert.equal(watch.state, 'listing');
  await watched.settle();
  assert.equal(watch.state, 'watching');
  assert.deepEqual(watched.takeRequests(), [LIST, LIST, LIST, watchFrom(cluster.revision)]);
  assert.equal(view.calls[0], 'listing');
  assert.equal(view.calls.at(-1), 'listed');
  assert.equal(view.calls.filter((call) => call === 'listed').length, 1);
  assert.equal(view.objects.size, 1100);

  view.calls.length = 0;
  cluster.put(pods.path, pod('new'));
  await watched.settle();
  cluster.delete(pods.path, 'new', 'default');
  await watched.settle();
  assert.deepEqual(view.calls, ['changed 1', 'deleted default/new']);
  assert.deepEqual(watched.differences, []);
});

test('a watch that the server ends continues without a list', async () => {
  using watched = new WatchedCluster();
  await watched.advance(1);
  watched.cluster.put(pods.path, pod('a'));
  await watched.settle();
  watched.takeRequests();
  watched.view.calls.length = 0;
  await watched.advance(3600);
  const requests = watched.takeRequests();
  assert.ok(
    requests.length >= 40 && requests.length <= 60,
    `${requests.length} requests in an hour`,
  );
  assert.deepEqual([...new Set(requests)], [watchFrom(101)]);
  assert.deepEqual(watched.view.calls, []);
  assert.deepEqual(watched.logged.lines, ['info list is complete']);
});

test('a bookmark moves the resource version on', async () => {
  using watched = new WatchedCluster((cluster) => cluster.install('/api/v1/nodes'));
  await watched.advance(1);
  for (let i = 0; i < 5; i++) watched.cluster.put('/api/v1/nodes', { metadata: { name: `${i}` } });
  watched.cluster.bookmark();
  await watched.settle();
  watched.takeRequests();
  watched.cluster.compact();
  watched.cluster.endWatches();
  await watched.settle();
  assert.deepEqual(watched.takeRequests(), [watchFrom(105)]);
  assert.equal(watched.watch.state, 'watching');
});

for (const expiredBy of ['status', 'event'] as const)
  test(`an expired version, reported by ${expiredBy}, leads to a new list`, async () => {
    using watched = new WatchedCluster((cluster) => cluster.put(pods.path, pod('a')));
    const { cluster, view } = watched;
    cluster.expiredBy = expiredBy;
    await watched.advance(10);
    cluster.suspend();
    cluster.delete(pods.path, 'a', 'default');
    cluster.put(pods.path, pod('b'));
    cluster.compact();
    cluster.cut();
    cluster.resume();
    view.calls.length = 0;
    await watched.advance(5);
    assert.deepEqual(view.calls, ['listing', 'changed 1', 'listed']);
    assert.deepEqual([...view.objects.keys()], ['default/b']);
    assert.equal(watched.watch.state, 'watching');
  });

test('an expired continue token restarts the list as one page', async () => {
  using watched = new WatchedCluster((cluster) => {
    for (let i = 0; i < 700; i++) cluster.put(pods.path, pod(`pod-${i}`));
  });
  const { cluster, view } = watched;
  const changed = view.changed.bind(view);
  view.changed = (objects) => {
    changed(objects);
    // The history ends while the first page is read.
    view.changed = changed;
    cluster.delete(pods.path, 'pod-699', 'default');
    cluster.compact();
  };
  await watched.settle();
  assert.deepEqual(watched.takeRequests(), [LIST, LIST, LIST, watchFrom(cluster.revision)]);
  assert.equal(view.calls.filter((call) => call === 'listing').length, 2);
  assert.equal(view.calls.filter((call) => call === 'listed').length, 1);
  assert.deepEqual(watched.differences, []);
});

test('half a list is never complete', async () => {
  using watched = new WatchedCluster((cluster) => {
    for (let i = 0; i < 700; i++) cluster.put(pods.path, pod(`pod-${i}`));
    cluster.inject({ on: 'list', cutAfter: 30_000, times: 4 });
  });
  await watched.advance(2);
  assert.equal(watched.watch.state, 'waiting');
  assert.equal(code(watched.watch.error), 'CV_KSR_API_UNREACHABLE');
  assert.ok(!watched.view.calls.includes('listed'));
  await watched.advance(60);
  assert.equal(watched.watch.state, 'watching');
  assert.deepEqual(watched.differences, []);
});

test('an outage of an hour costs few requests and two log lines', async () => {
  using watched = new WatchedCluster((cluster) => cluster.put(pods.path, pod('a')));
  await watched.advance(10);
  watched.takeRequests();
  watched.logged.lines.length = 0;
  watched.view.calls.length = 0;
  watched.cluster.inject({ status: 503, times: 1e9 });
  watched.cluster.cut();
  await watched.advance(3600);
  assert.equal(watched.watch.state, 'waiting');
  assert.equal(code(watched.watch.error), 'CV_KSR_API_BUSY');
  assert.ok(!watched.view.isCurrent);
  const attempts = watched.takeRequests().length;
  assert.ok(attempts > 100 && attempts < 300, `${attempts} requests`);
  // The reset of the connection and then the answer 503 are two different failures.
  assert.deepEqual(watched.logged.lines, [
    'warn watch is interrupted',
    'warn watch is interrupted',
  ]);
  watched.cluster.put(pods.path, pod('b'));
  watched.cluster.clearFaults();
  await watched.advance(30);
  assert.equal(watched.watch.state, 'watching');
  assert.equal(watched.watch.error, undefined);
  assert.equal(watched.logged.lines.at(-1), 'info watch is open again');
  assert.deepEqual(watched.view.calls, ['changed 1']);
  assert.ok(watched.view.isCurrent);
  assert.deepEqual(watched.differences, []);
});

/** A watch that was interrupted, and that continues after these changes. */
async function continued(watched: WatchedCluster, change: () => void): Promise<void> {
  await watched.advance(10);
  watched.cluster.inject({ status: 503 });
  watched.cluster.cut();
  await watched.advance(0.1);
  change();
  assert.ok(!watched.view.isCurrent);
  while (watched.watch.state === 'waiting') await watched.advance(0.1);
}

test('objects are up to date again when a watch has reached the version of the server', async () => {
  using watched = new WatchedCluster();
  await continued(watched, () => watched.cluster.put(pods.path, pod('a')));
  assert.ok(watched.view.isCurrent);
  assert.deepEqual(watched.differences, []);
  watched.cluster.cut();
  await watched.advance(0.1);
  assert.ok(!watched.view.isCurrent);
});

test('objects of a kind without new changes are up to date when the watch is silent for a second', async () => {
  using watched = new WatchedCluster((cluster) => cluster.install('/api/v1/nodes'));
  await continued(watched, () => watched.cluster.put('/api/v1/nodes', pod('other')));
  assert.ok(!watched.view.isCurrent);
  // interrupted again before it was silent for so long
  watched.cluster.cut();
  while (watched.watch.state !== 'waiting') await watched.advance(0.1);
  while (watched.watch.state === 'waiting') await watched.advance(0.1);
  await watched.advance(0.8);
  assert.ok(!watched.view.isCurrent);
  await watched.advance(0.3);
  assert.ok(watched.view.isCurrent);
});

for (const isReached of [true, false])
  test(`objects are not up to date while missed changes arrive, ${isReached ? 'with' : 'without'} the last version`, async () => {
    using watched = new WatchedCluster((cluster) => cluster.install('/api/v1/nodes'));
    const { cluster, view } = watched;
    cluster.missedMs = 500;
    await continued(watched, () => {
      for (let i = 0; i < 20; i++) cluster.put(pods.path, pod(`${i}`));
      if (!isReached) cluster.put('/api/v1/nodes', pod('other'));
    });
    while (view.objects.size < 19) {
      await watched.advance(0.1);
      assert.ok(!view.isCurrent, `${view.objects.size} of 20`);
    }
    await watched.advance(1.6);
    assert.ok(view.isCurrent);
    assert.deepEqual(watched.differences, []);
  });

test('a server that pauses while missed changes arrive has not sent all of them', async () => {
  using watched = new WatchedCluster((cluster) => cluster.install('/api/v1/nodes'));
  const { cluster, view } = watched;
  cluster.missedMs = 500;
  await continued(watched, () => {
    for (let i = 0; i < 4; i++) cluster.put(pods.path, pod(`${i}`));
    cluster.put('/api/v1/nodes', pod('other'));
  });
  while (view.objects.size < 2) await watched.advance(0.1);
  cluster.suspend();
  for (let at = 0; at < 50; at++) {
    await watched.advance(0.1);
    assert.ok(!view.isCurrent, `after ${at} tenths of a second`);
  }
  cluster.resume();
  while (view.objects.size < 4) await watched.advance(0.1);
  await watched.advance(1.6);
  assert.ok(view.isCurrent);
  assert.deepEqual(watched.differences, []);
});

test('a part of a change is data that was missed', async () => {
  using watched = new WatchedCluster((cluster) => cluster.install('/api/v1/nodes'));
  const { cluster, view } = watched;
  await continued(watched, () => cluster.put('/api/v1/nodes', pod('other')));
  const metadata = { name: 'a', namespace: 'default', resourceVersion: '100' };
  const line = `${JSON.stringify({ type: 'ADDED', object: { metadata } })}\n`;
  for (let at = 0; at < line.length; at += 20) {
    cluster.sendRaw(line.slice(at, at + 20), pods.path);
    await watched.advance(0.8);
    assert.ok(!view.isCurrent);
  }
  await watched.advance(0.3);
  assert.ok(view.isCurrent);
  assert.ok(view.objects.has('default/a'));
});

test('objects that change all the time are up to date when the missed changes have arrived', async () => {
  using watched = new WatchedCluster();
  await continued(watched, () => {
    watched.cluster.install('/api/v1/nodes');
    watched.cluster.put('/api/v1/nodes', pod('other'));
  });
  assert.ok(!watched.view.isCurrent);
  for (let i = 0; i < 10; i++) {
    await watched.advance(0.3);
    watched.cluster.put(pods.path, pod(`${i}`));
  }
  await watched.settle();
  assert.ok(watched.view.isCurrent);
});

test('a watch that hangs is up to date again soon when it begins again', async () => {
  using watched = new WatchedCluster((cluster) => cluster.put(pods.path, pod('a')));
  const { cluster, view, watch } = watched;
  await watched.advance(10);
  cluster.hangWatches();
  cluster.put(pods.path, pod('b'));
  cluster.delete(pods.path, 'a', 'default');
  await watched.advance(5);
  assert.deepEqual([...view.objects.keys()], ['default/a']);
  assert.ok(view.isCurrent);
  view.calls.length = 0;
  watched.takeRequests();
  watch.refresh();
  watch.refresh();
  assert.ok(!view.isCurrent);
  await watched.settle();
  assert.deepEqual(view.calls, ['changed 1', 'deleted default/a']);
  assert.ok(view.isCurrent);
  assert.deepEqual(watched.takeRequests(), [LIST, watchFrom(101)]);
  assert.deepEqual(watched.logged.lines, ['info list is complete']);
  assert.equal(watch.state, 'watching');
});

test('a list that is begun again is complete with the objects of the later time', async () => {
  using watched = new WatchedCluster((cluster) => {
    for (let i = 0; i < 700; i++) cluster.put(pods.path, pod(`pod-${i}`));
  });
  const { cluster, view, watch } = watched;
  const changed = view.changed.bind(view);
  view.changed = (objects) => {
    changed(objects);
    view.changed = changed;
    cluster.put(pods.path, pod('new'));
    watch.refresh();
  };
  const listed = view.listed.bind(view);
  view.listed = () => {
    listed();
    assert.ok(view.objects.has('default/new'));
  };
  await watched.settle();
  assert.equal(view.calls.filter((call) => call === 'listed').length, 1);
  assert.ok(view.isCurrent);
  assert.deepEqual(watched.differences, []);
});

test('a watch that begins again while it catches up waits for what came meanwhile', async () => {
  using watched = new WatchedCluster();
  const { cluster, view, watch } = watched;
  cluster.missedMs = 500;
  await continued(watched, () => {
    for (let i = 0; i < 10; i++) cluster.put(pods.path, pod(`${i}`));
  });
  await watched.advance(2);
  for (let i = 10; i < 20; i++) cluster.put(pods.path, pod(`${i}`));
  watch.refresh();
  while (view.objects.size < 20) {
    assert.ok(!view.isCurrent, `${view.objects.size} of 20`);
    await watched.advance(0.1);
  }
  assert.ok(view.isCurrent);
});

test('a watch that waits after a failure does not ask sooner when it begins again', async () => {
  using watched = new WatchedCluster((cluster) => cluster.inject({ status: 403 }));
  await watched.settle();
  watched.takeRequests();
  watched.watch.refresh();
  await watched.advance(44);
  assert.deepEqual(watched.takeRequests(), []);
  await watched.advance(32);
  assert.ok(watched.view.isCurrent);
});

test('a suspended server is left after two minutes, and followed when it continues', async () => {
  using watched = new WatchedCluster();
  await watched.advance(10);
  watched.takeRequests();
  watched.cluster.suspend();
  watched.cluster.put(pods.path, pod('a'));
  await watched.advance(75);
  assert.equal(watched.watch.state, 'watching');
  await watched.advance(36);
  assert.equal(watched.watch.state, 'waiting');
  assert.match(watched.watch.error?.message ?? '', /sent nothing for 1\d\d s/);
  await watched.advance(600);
  watched.cluster.resume();
  await watched.advance(35);
  assert.equal(watched.watch.state, 'watching');
  assert.deepEqual(watched.differences, []);
});

test('a kind that never changes needs no bookmarks', async () => {
  using watched = new WatchedCluster((cluster) => {
    cluster.bookmarkMs = 1e9;
  });
  await watched.advance(3600);
  assert.equal(watched.watch.state, 'watching');
  assert.deepEqual(watched.logged.lines, ['info list is complete']);
  assert.equal(watched.takeRequests().filter((request) => request === LIST).length, 1);
});

test('a list that gets no answer is repeated', async () => {
  using watched = new WatchedCluster((cluster) => cluster.inject({ on: 'list', isSilent: true }));
  await watched.advance(59);
  assert.equal(watched.watch.state, 'listing');
  await watched.advance(2);
  assert.equal(watched.watch.state, 'watching');
});

const invalidTexts: Record<string, string> = {
  'a line that is not JSON': 'no JSON\n',
  'half a line at the end': '{"type":"ADDED","obj',
  'an unknown type of event': '{"type":"RENAMED","object":{"metadata":{"resourceVersion":"7"}}}\n',
  'an event without an object': '{"type":"ADDED"}\n',
  'an event that is null': 'null\n',
  'an object without a name': '{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}\n',
  'a deletion without a name': '{"type":"DELETED","object":{"metadata":{"resourceVersion":"7"}}}\n',
  'an object without a version': '{"type":"MODIFIED","object":{"metadata":{"name":"x"}}}\n',
  'a bookmark without a version': '{"type":"BOOKMARK","object":{"metadata":{}}}\n',
};
for (const [title, text] of Object.entries(invalidTexts))
  test(`${title} ends the watch, and the next one begins after the last valid event`, async () => {
    using watched = new WatchedCluster();
    await watched.advance(1);
    watched.cluster.put(pods.path, pod('a'));
    watched.cluster.sendRaw(text);
    if (!text.endsWith('\n')) watched.cluster.endWatches();
    await watched.settle();
    assert.equal(watched.watch.state, 'waiting');
    assert.equal(code(watched.watch.error), 'CV_KSR_API_RESPONSE');
    watched.cluster.put(pods.path, pod('b'));
    watched.takeRequests();
    watched.view.calls.length = 0;
    await watched.advance(1);
    // One list of one object looks whether the version is still of the same database.
    assert.deepEqual(watched.takeRequests(), [LIST, watchFrom(101)]);
    assert.deepEqual(watched.view.calls, ['changed 1']);
    assert.deepEqual(watched.differences, []);
  });

const uselessWatches = [
  { title: 'is not JSON', fault: { body: 'no JSON\n' }, lists: 2 },
  { title: 'is answered 400', fault: { status: 400 }, lists: 2 },
  {
    title: 'reports an internal error',
    fault: { body: '{"type":"ERROR","object":{"code":500}}\n' },
    lists: 2,
  },
  { title: 'is answered 429', fault: { status: 429, retryAfter: '1' }, lists: 1 },
  { title: 'is answered 403', fault: { status: 403 }, lists: 1 },
];
for (const { title, fault, lists } of uselessWatches)
  test(`after two watches of which each ${title}, the objects are listed ${lists - 1} times again`, async () => {
    using watched = new WatchedCluster((cluster) => {
      cluster.put(pods.path, pod('a'));
      cluster.inject({ on: 'watch', times: 2, ...fault });
    });
    await watched.advance(200);
    assert.equal(watched.view.calls.filter((call) => call === 'listed').length, lists);
    assert.equal(watched.watch.state, 'watching');
  });

const invalidLists = {
  'not JSON': '<html>Bad Gateway</html>',
  'no items': '{"metadata":{"resourceVersion":"7"}}',
  'items that are text': '{"metadata":{"resourceVersion":"7"},"items":"none"}',
  'items that are no objects': '{"metadata":{"resourceVersion":"7"},"items":[1]}',
  'an item that is a list': '{"metadata":{"resourceVersion":"7"},"items":[[{}]]}',
  'no version': '{"metadata":{},"items":[]}',
  'half of it': '{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{',
  nothing: '',
};
for (const [title, body] of Object.entries(invalidLists))
  test(`a list with ${title} is an error and repeated`, async () => {
    using watched = new WatchedCluster((cluster) => {
      cluster.put(pods.path, pod('a'));
      cluster.inject({ on: 'list', body });
    });
    await watched.settle();
    assert.equal(code(watched.watch.error), 'CV_KSR_API_RESPONSE');
    assert.ok(!watched.view.calls.includes('listed'));
    await watched.advance(2);
    assert.equal(watched.watch.state, 'watching');
    assert.deepEqual(watched.differences, []);
  });

const statuses = [
  { status: 401, code: 'CV_KSR_API_UNAUTHORIZED', earliest: 0.2, latest: 0.5 },
  { status: 403, code: 'CV_KSR_API_FORBIDDEN', earliest: 45, latest: 75 },
  { status: 404, code: 'CV_KSR_API_NOT_FOUND', earliest: 7.5, latest: 12.5 },
  { status: 429, code: 'CV_KSR_API_BUSY', earliest: 17, latest: 17.5, retryAfter: '17' },
  { status: 500, code: 'CV_KSR_API_BUSY', earliest: 0.2, latest: 0.5 },
  { status: 503, code: 'CV_KSR_API_BUSY', earliest: 0.2, latest: 0.5 },
];
for (const { status, earliest, latest, ...expected } of statuses)
  test(`the answer ${status} is retried after ${earliest} to ${latest} s`, async () => {
    using watched = new WatchedCluster((cluster) => {
      const { retryAfter } = expected;
      cluster.inject({ on: 'list', status, ...(retryAfter && { retryAfter }) });
    });
    await watched.settle();
    assert.equal(watched.watch.state, 'waiting');
    assert.equal(code(watched.watch.error), expected.code);
    assert.match(watched.watch.error?.message ?? '', new RegExp(`answered ${status}: injected`));
    await watched.advance(earliest);
    assert.equal(watched.watch.state, 'waiting');
    await watched.advance(latest - earliest + 0.1);
    assert.equal(watched.watch.state, 'watching');
  });

test('a kind that is not installed is absent, once, and is listed when it is installed', async () => {
  using watched = new WatchedCluster((cluster) => cluster.uninstall(pods.path));
  await watched.advance(100);
  assert.deepEqual(watched.view.calls, ['absent']);
  assert.deepEqual(watched.logged.lines, ['info kind is not installed']);
  watched.cluster.install(pods.path);
  await watched.advance(13);
  assert.deepEqual(watched.view.calls, ['absent', 'listing', 'listed']);
  watched.cluster.uninstall(pods.path);
  await watched.advance(100);
  assert.deepEqual(watched.view.calls.slice(3), ['absent']);
});

test('a server without the first version of a kind is asked for the others', async () => {
  const older = '/api/v0/pods';
  const prepare = (cluster: WatchedCluster['cluster']) => {
    cluster.uninstall(pods.path);
    cluster.install(older);
    cluster.put(older, pod('a'));
  };
  using watched = new WatchedCluster(prepare, 1, [older]);
  await watched.settle();
  assert.equal(watched.watch.state, 'watching');
  assert.deepEqual([...watched.view.objects.keys()], ['default/a']);
  assert.deepEqual(watched.logged.lines.slice(0, 1), ['info list is complete']);
  // it goes away, which deletes nothing, and the first version comes
  watched.cluster.uninstall(older);
  await watched.advance(100);
  assert.equal(watched.view.calls.at(-1), 'absent');
  assert.deepEqual([...watched.view.objects.keys()], ['default/a']);
  watched.cluster.install(pods.path);
  watched.cluster.put(pods.path, pod('b'));
  await watched.advance(13);
  assert.deepEqual([...watched.view.objects.keys()], ['default/b']);
});

test('a database that was restored is listed again', async () => {
  using watched = new WatchedCluster((cluster) => {
    for (let i = 0; i < 20; i++) cluster.put(pods.path, pod(`pod-${i}`));
  });
  await watched.advance(10);
  watched.cluster.restore(50);
  watched.cluster.put(pods.path, pod('other'));
  await watched.advance(2);
  assert.deepEqual([...watched.view.objects.keys()], ['default/other']);
  assert.ok(watched.logged.lines.includes('warn resource version went back: listing again'));
});

test('a server that ends each watch at once is not flooded', async () => {
  using watched = new WatchedCluster((cluster) =>
    cluster.inject({ on: 'watch', body: '', times: 1e9 }),
  );
  await watched.advance(600);
  const count = watched.takeRequests().length;
  assert.ok(count < 100, `${count} requests in ten minutes`);
  assert.match(watched.watch.error?.message ?? '', /ended at once/);
});

test('a history that ends at once is not listed in a loop', async () => {
  using watched = new WatchedCluster((cluster) =>
    cluster.inject({ on: 'watch', status: 410, times: 1e9 }),
  );
  await watched.advance(600);
  const count = watched.takeRequests().length;
  assert.ok(count < 100, `${count} requests in ten minutes`);
});

for (const moment of ['listing', 'changed', 'listed'] as const)
  test(`after a failure of the handler \`${moment}\` all objects are listed again`, async () => {
    using watched = new WatchedCluster((cluster) => cluster.put(pods.path, pod('a')));
    if (moment === 'changed') await watched.advance(1);
    const { view } = watched;
    const handler = view[moment].bind(view) as (...values: unknown[]) => void;
    view[moment] = () => {
      view[moment] = handler;
      throw new TypeError('defect');
    };
    if (moment === 'changed') watched.cluster.put(pods.path, pod('b'));
    await watched.settle();
    assert.equal(watched.watch.state, 'waiting');
    assert.equal(code(watched.watch.error), 'TypeError');
    await watched.advance(2);
    assert.equal(watched.watch.state, 'watching');
    assert.deepEqual(watched.differences, []);
  });

for (const moment of ['listing', 'changed', 'deleted', 'listed'] as const)
  test(`no handler is called after a close in \`${moment}\``, async () => {
    using watched = new WatchedCluster((cluster) => {
      for (let i = 0; i < 600; i++) cluster.put(pods.path, pod(`pod-${i}`));
    });
    const { view, watch, cluster } = watched;
    const isOfList = moment !== 'deleted';
    if (!isOfList) await watched.advance(1);
    let count = 0;
    const handler = view[moment].bind(view) as (...values: unknown[]) => void;
    view[moment] = (...values: unknown[]) => {
      handler(...values);
      watch.close();
      count = view.calls.length;
    };
    await watched.settle();
    for (let i = 0; i < 3; i++) cluster.delete(pods.path, `pod-${i}`, 'default');
    cluster.put(pods.path, pod('new'));
    await watched.advance(1000);
    assert.equal(view.calls.length, count);
    assert.equal(cluster.openWatches, 0);
    assert.equal(watched.clock.pending, 0);
  });
