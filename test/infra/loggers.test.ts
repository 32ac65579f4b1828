import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { Loggers, LogLevelError, logRoutes, logsSchema } from '#infra/log/loggers.ts';

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

  it('change at run time, also before they are created', async () => {
    const { loggers, lines } = make();
    const [list, put] = logRoutes(loggers);
    const set = (logger: string, level: string) =>
      put!.handle({ query: {}, params: { logger, level }, body: undefined });
    const a = loggers.get('a');
    a.debug('no');
    assert.deepEqual((await set('a', 'debug')).body, { logger: 'a', level: 'debug' });
    a.debug('yes');
    await set('later', 'error');
    loggers.get('later').warn('no');
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['yes'],
    );
    assert.equal((await set('a', 'loud')).status, 500);
    const { body } = await list!.handle({ query: {}, params: {}, body: undefined });
    assert.deepEqual(body, [
      { logger: 'a', level: 'debug' },
      { logger: 'later', level: 'error' },
    ]);
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
