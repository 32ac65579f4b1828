import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { durationMs } from '#infra/config/duration.ts';
import { parseConfig } from '#infra/config/load.ts';
import { controllerSchema } from '#plugins/controller/config.ts';

const parse = (yaml: string) => parseConfig(controllerSchema, yaml, 'controller.conf').value;

describe('controller.conf', () => {
  it('has the documented defaults, durations in nanoseconds', () => {
    const config = parse('');
    assert.deepEqual(config, {
      enableRetry: true,
      delayRetry: 1_000_000_000,
      maxRetryAttempts: 3,
      enableExpBackoffRetry: true,
      delayLocalResync: 5_000_000_000,
      startupResyncDeadline: 30_000_000_000,
      enablePeriodicHealing: false,
      periodicHealingInterval: 30_000_000_000,
      delayAfterErrorHealing: 5_000_000_000,
      remoteDBProbingInterval: 3_000_000_000,
      remoteDBCompareInterval: 300_000_000_000,
      recordEventHistory: true,
      eventHistoryAgeLimit: 1440,
      permanentlyRecordedInitPeriod: 60,
      eventHistorySizeLimit: 64,
      enableVerification: false,
      'record-run': '',
    });
  });

  it('takes whole nanoseconds and text for every duration', () => {
    const durations = [
      'delayRetry',
      'delayLocalResync',
      'startupResyncDeadline',
      'periodicHealingInterval',
      'delayAfterErrorHealing',
      'remoteDBProbingInterval',
    ] as const;
    for (const key of durations) {
      assert.equal(durationMs(parse(`${key}: 7000000000\n`)[key]), 7_000, key);
      assert.equal(durationMs(parse(`${key}: 5s\n`)[key]), 5_000, key);
      assert.equal(durationMs(parse(`${key.toUpperCase()}: 1m30s\n`)[key]), 90_000, key);
      assert.throws(() => parse(`${key}: 30\n`), /a number without unit counts nanoseconds/, key);
    }
  });

  it('rejects invalid values', () => {
    for (const yaml of [
      'maxRetryAttempts: -1',
      'periodicHealingInterval: 0',
      'periodicHealingInterval: 1ms',
      'startupResyncDeadline: 1ms',
      'remoteDBProbingInterval: 1ms',
      'remoteDBCompareInterval: 1ms',
      'startupResyncDeadline: 0s',
      'eventHistorySizeLimit: 0',
      'eventHistoryAgeLimit: -5',
      'enableRetry: maybe',
      'delayRetry: soon',
    ])
      assert.throws(() => parse(`${yaml}\n`), { code: 'CV_CONFIG_INVALID' }, yaml);
  });
});
