import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { replay, replayedParts } from '#cmd/agent/replay.ts';
import { type VrfTable, vrfTableKey } from '#models/vpp/vrf-table.ts';
import type { Line } from '#plugins/controller/recording/recording-format.ts';
import { readRecording, recordingFiles } from '#plugins/controller/recording/recording-reader.ts';
import { replayRecording } from '#plugins/controller/recording/replay.ts';
import { makeNode, startAgent } from './harness.ts';
import { mixedRun } from './mixed-run.ts';

describe('a recording', () => {
  let folder: string;
  let lines: Line[];
  let processed: number;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recording-'));
    processed = await mixedRun(join(folder, 'run'), 1000);
    const [file = ''] = await recordingFiles(join(folder, 'run'));
    const text = await readFile(file, 'utf8');
    lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  });
  after(() => rm(folder, { recursive: true }));

  /** Replays these lines; the last one may be truncated. */
  async function report(changed: readonly (Line | string)[]) {
    const file = join(folder, 'changed.jsonl');
    const texts = changed.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    await writeFile(file, `${texts.join('\n')}\n`);
    return await replayRecording(await readRecording(file), replayedParts);
  }

  const numbers = (kind: string): number[] =>
    lines.flatMap((line) => (line.t === 'event' && line.kind === kind ? [line.n] : []));

  /** The recording without one event. */
  function without(n: number): Line[] {
    return lines.flatMap((line): Line[] => {
      if (!('n' in line)) return [line];
      if (line.n === n) return [];
      const moved = { ...line, n: line.n > n ? line.n - 1 : line.n };
      if (moved.t !== 'event' || (moved.followUpTo ?? 0) <= n) return [moved];
      return [{ ...moved, followUpTo: moved.followUpTo! - 1 }];
    });
  }

  it('with settings that are none of an agent is rejected', async () => {
    const [header] = lines as [Line & { settings: object }];
    const { contiv } = header.settings as { contiv: object };
    const without = { ...header, settings: { contiv } } as Line;
    assert.deepEqual((await report([without, ...lines.slice(1)])).differences, []);
    for (const settings of [{}, { contiv: { ...contiv, mtuSize: 'large' } }])
      await assert.rejects(report([{ ...header, settings } as Line, ...lines.slice(1)]), {
        code: 'CV_RECORDING_UNREADABLE',
        message: /settings are invalid: .*(contiv|mtuSize)/,
      });
  });

  it('lets handlers read the values put so far, as the agent does', async () => {
    const [file = ''] = await recordingFiles(join(folder, 'run'));
    const podTable = vrfTableKey.build({ id: 1, protocol: 'IPV4' });
    let read: () => unknown = () => undefined;
    const { differences } = await replayRecording(await readRecording(file), (first, wanted) => {
      read = () => wanted.value(podTable);
      return replayedParts(first, wanted);
    });
    assert.deepEqual(differences, []);
    assert.equal((read() as VrfTable).id, 1);
  });

  it('has a thousand events of every kind, with failures among them', () => {
    assert.ok(processed >= 1000);
    const kinds = ['database-resync', 'kube-state-change', 'external-config-change', 'node-update'];
    for (const kind of [...kinds, 'add-pod', 'delete-pod', 'healing-resync', 'shutdown'])
      assert.ok(numbers(kind).length > 0, kind);
    assert.ok(numbers('database-resync').length >= 2);
    const failed = lines.filter((line) => line.t === 'result' && line.failures?.length);
    assert.ok(failed.length > 10, `${failed.length} failed transactions`);
    const away = lines.filter((line) => line.t === 'answer' && line.error);
    assert.ok(away.length > 0, 'a port did not answer');
  });

  it('replays to equal transactions, and reports them as equal', async () => {
    const printed: string[] = [];
    assert.equal(await replay(join(folder, 'run'), (text) => printed.push(text)), true);
    const text = printed.join('');
    const events = lines.filter(({ t }) => t === 'event').length;
    assert.match(text, new RegExp(`replayed: ${events} events`));
    assert.match(text, /all transactions are equal/);
    assert.doesNotMatch(text, /ends early/);
  });

  it('shows the first difference when one event is left out: event, key and field', async () => {
    // Every event but a failed Add Pod, a resync, and the shutdown changes the state.
    const failed = new Set(
      lines.flatMap((line) => (line.t === 'end' && line.error !== undefined ? [line.n] : [])),
    );
    const left = numbers('add-pod').filter((n) => !failed.has(n));
    for (const n of [left[0]!, left[Math.floor(left.length / 2)]!]) {
      const { differences, events } = await report(without(n));
      const [first] = differences;
      assert.equal(first?.what, 'transaction', `without event #${n}`);
      assert.ok(first.event.n >= n && events > n - 1);
      assert.match(first.event.name, /Pod|Resync/);
      assert.match(first.key ?? '', /^(config|vpp|linux)\//);
      assert.notDeepEqual(first.recorded, first.replayed);
    }
  });

  it('reports any missing event', async () => {
    for (const n of [3, numbers('kube-state-change')[5]!, numbers('healing-resync')[0]!]) {
      const { differences } = await report(lines.filter((line) => !('n' in line) || line.n !== n));
      assert.equal(differences[0]?.event.n, n + 1);
      assert.match(String(differences[0]?.recorded), new RegExp(`event #${n} is missing`));
    }
  });

  it('reports a different value with its field', async () => {
    const keyIn = (line: Line | undefined) =>
      line?.t === 'commit'
        ? Object.keys(line.values).find((key) => /\/loop\d$/.test(key) && line.values[key])
        : undefined;
    const at = lines.findLastIndex((line) => keyIn(line) !== undefined);
    const commit = structuredClone(lines[at]) as Line & { t: 'commit' };
    const key = keyIn(commit)!;
    const value = commit.values[key] as { mtu: number; name: string };
    value.mtu = -1;
    const { differences } = await report(lines.with(at, commit));
    assert.equal(differences.length, 1);
    const [{ event, field, recorded, what }] = differences as [(typeof differences)[number]];
    assert.deepEqual(
      { n: event.n, what, key: differences[0]?.key, field, recorded },
      { n: commit.n, what: 'transaction', key, field: 'mtu', recorded: -1 },
    );
  });

  it('replays failures: a different failure is a difference', async () => {
    const at = lines.findIndex((line) => line.t === 'result' && (line.failures?.length ?? 0) > 0);
    const result = lines[at] as Line & { t: 'result' };
    const { differences } = await report(lines.with(at, { ...result, failures: [] }));
    assert.equal(differences[0]?.event.n, result.n);
    assert.ok(differences.some(({ what, field }) => what === 'outcome' && field === 'error'));
  });

  it('may end within a line, as after a kill -9, but may have no damage before', async () => {
    const texts = lines.slice(0, 400).map((line) => JSON.stringify(line));
    const cut = texts.at(-1)!.slice(0, 20);
    const { differences, events, ending } = await report([...texts.slice(0, -1), cut]);
    assert.deepEqual(differences, []);
    assert.ok(events > 20);
    assert.match(ending ?? '', /last line is truncated/);
    await assert.rejects(report([...texts.slice(0, 50), cut, ...texts.slice(50)]), {
      code: 'CV_RECORDING_UNREADABLE',
      message: /changed\.jsonl:51: the recording is corrupted/,
    });
    await assert.rejects(report([...texts.slice(0, 50), 'null', ...texts.slice(50)]), {
      code: 'CV_RECORDING_UNREADABLE',
      message: /changed\.jsonl:51: the recording is corrupted: a line is no object/,
    });
  });

  it('of another format, with an unknown event or without content is rejected with its name', async () => {
    const [first, ...others] = lines as [Line & { t: 'run' }, ...Line[]];
    const code = 'CV_RECORDING_UNREADABLE';
    await assert.rejects(report([{ ...first, format: 99 }, ...others]), {
      code,
      message: /format 99/,
    });
    await assert.rejects(report(others), { code, message: /is not a recording/ });
    await assert.rejects(report(['{"t":"run","format":1}']), {
      code,
      message: /is not a recording/,
    });
    const strange = others.map((line) => (line.t === 'event' ? { ...line, kind: 'odd' } : line));
    await assert.rejects(report([first, ...strange]), { code, message: /no event kind odd/ });
    await assert.rejects(
      replay(join(folder, 'nowhere'), () => undefined),
      { code },
    );
    await assert.rejects(
      replay(tmpdir(), () => undefined),
      { code, message: /contains no recording/ },
    );
  });

  it('is readable by its owner only', async () => {
    const [file = ''] = await recordingFiles(join(folder, 'run'));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(join(folder, 'run'))).mode & 0o777, 0o700);
  });
});

describe('recording', () => {
  it('that cannot be written does not affect the agent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recording-'));
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    await using running = await startAgent(makeNode(), { controller: { 'record-run': file } });
    assert.ok(running.agent.controller.eventCount > 0);
    assert.ok(
      running.logged.some(({ msg }) => String(msg).includes('recording stopped')),
      'it is said',
    );
    await rm(folder, { recursive: true });
  });

  it('is off by default', async () => {
    const before = await readdir('.');
    await using running = await startAgent(makeNode());
    assert.ok(running.agent.controller.eventCount > 0);
    assert.deepEqual(await readdir('.'), before);
    assert.ok(!existsSync('run'));
  });
});
