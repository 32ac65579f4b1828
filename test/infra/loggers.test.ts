import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { answer } from '#infra/http/route.ts';
import { Loggers, LogLevelError, logRoutes, logsSchema } from '#infra/log/loggers.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';

function make(config = {}, initial?: string) {
  const lines: Record<string, unknown>[] = [];
  const loggers = new Loggers({ 'default-level': 'info', loggers: [], ...config }, initial, {
    write: (line: string) => void lines.push(JSON.parse(line)),
  });
  return { loggers, lines };
}

describe('loggers', () => {
  it('have their own levels, which override the initial one', () => {
    const { loggers, lines } = make({ loggers: [{ name: 'b', level: 'warning' }] }, 'debug');
    loggers.get('a').debug('one');
    loggers.get('b').info('two');
    loggers.get('b').warn({ n: 1 }, 'three');
    assert.deepEqual(
      lines.map(({ level, logger, msg }) => [level, logger, msg]),
      [
        ['debug', 'a', 'one'],
        ['warn', 'b', 'three'],
      ],
    );
  });

  it('change at run time', async () => {
    const { loggers, lines } = make();
    const [list, put] = logRoutes(loggers);
    const set = (logger: string, level: string) =>
      answer(put!, { query: {}, params: { logger, level }, body: undefined });
    const a = loggers.get('a');
    a.debug('no');
    assert.deepEqual((await set('a', 'debug')).body, { logger: 'a', level: 'debug' });
    a.debug('yes');
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['yes'],
    );
    const { body } = await list!.handle({ query: {}, params: {}, body: undefined });
    assert.deepEqual(body, [{ logger: 'a', level: 'debug' }]);
  });

  it('answer 404 for an unknown logger and 400 for an unknown level, and change nothing', async () => {
    const { loggers } = make();
    const [, put] = logRoutes(loggers);
    const set = (logger: string, level: string) =>
      answer(put!, { query: {}, params: { logger, level }, body: undefined });
    loggers.get('a');
    assert.deepEqual(await set('b', 'debug'), {
      status: 404,
      body: { Error: 'no logger has the name "b"' },
    });
    assert.deepEqual(await set('a', 'loud'), {
      status: 400,
      body: { Error: 'unknown log level "loud"' },
    });
    loggers.get('b');
    assert.deepEqual(loggers.list(), [
      { logger: 'a', level: 'info' },
      { logger: 'b', level: 'info' },
    ]);
  });

  it('accept all levels of the specification, mapped to those of pino', async () => {
    const { loggers, lines } = make();
    const [, put] = logRoutes(loggers);
    const log = loggers.get('a');
    const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
    for (const [level, shown, written] of [
      ['trace', 'trace', 6],
      ['debug', 'debug', 5],
      ['info', 'info', 4],
      ['warning', 'warning', 3],
      ['warn', 'warning', 3],
      ['error', 'error', 2],
      ['fatal', 'fatal', 1],
      // the agent has no panics: they are fatal errors
      ['panic', 'fatal', 1],
      ['WARNING', 'warning', 3],
    ] as const) {
      const params = { logger: 'a', level };
      const { status, body } = await answer(put!, { query: {}, params, body: undefined });
      assert.deepEqual({ status, body }, { status: 200, body: params });
      assert.deepEqual(loggers.list(), [{ logger: 'a', level: shown }]);
      lines.length = 0;
      for (const method of methods) log[method]('text');
      assert.equal(lines.length, written, level);
    }
  });

  it('have the level of their own, of INITIAL_LOGLVL, of default-level: the first that is set', () => {
    const own = { loggers: [{ name: 'a', level: 'error' }] };
    const levels = (config: object, initial?: string) => {
      const { loggers } = make(config, initial);
      for (const name of ['a', 'b']) loggers.get(name);
      return loggers.list().map(({ level }) => level);
    };
    assert.deepEqual(levels({}), ['info', 'info']);
    assert.deepEqual(levels({ 'default-level': 'warning' }), ['warning', 'warning']);
    assert.deepEqual(levels({ 'default-level': 'warning' }, 'debug'), ['debug', 'debug']);
    assert.deepEqual(levels({ 'default-level': 'warning', ...own }, 'debug'), ['error', 'debug']);
    assert.deepEqual(levels({ 'default-level': 'warning', ...own }, ''), ['error', 'warning']);
  });

  it('are named if the configuration has a level for one that does not exist', () => {
    const { loggers } = make({
      loggers: [
        { name: 'a', level: 'debug' },
        { name: 'govpp', level: 'debug' },
      ],
    });
    loggers.get('a');
    assert.deepEqual(loggers.unusedNames, ['govpp']);
  });

  it('do not grow with a million changes of levels', async () => {
    const { loggers } = make();
    const [, put] = logRoutes(loggers);
    const names = Array.from({ length: 20 }, (_, n) => `logger${n}`);
    for (const name of names) loggers.get(name);
    const change = async (count: number) => {
      for (let n = 0; n < count; n++) {
        // one of a hundred names is unknown, and another one each time
        const logger = n % 100 === 0 ? `unknown${n}` : names[n % names.length]!;
        const level = n % 3 === 0 ? 'debug' : 'warning';
        await answer(put!, { query: {}, params: { logger, level }, body: undefined });
      }
    };
    await change(10_000);
    const before = retainedBytes();
    await change(1_000_000);
    const growth = retainedBytes() - before;
    assert.ok(growth < 1_000_000, `${growth} bytes`);
    assert.equal(loggers.list().length, names.length);
  });

  it('reject an unknown level', () => {
    assert.throws(() => make({ 'default-level': 'loud' }), LogLevelError);
    assert.throws(() => make({}, 'constructor'), /INITIAL_LOGLVL: unknown log level "constructor"/);
    assert.throws(
      () => parseConfig(logsSchema, 'loggers:\n- name: a\n  level: toString', 'logs.conf'),
      /logs\.conf:3: loggers\.0\.level: has to be trace, debug/,
    );
  });
});
