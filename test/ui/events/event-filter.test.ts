import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { failureOf, isReverted } from '../../../ui/src/views/events/event-failure.ts';
import { filterOf, isSelected } from '../../../ui/src/views/events/event-filter.ts';
import { eventKinds, kindOf, subjectOf } from '../../../ui/src/views/events/event-kind.ts';
import { handlerCall, processedEvent } from './event-samples.ts';

const selects = (query: string, event: ReturnType<typeof processedEvent>) =>
  isSelected(event, filterOf(new URLSearchParams(query)));

describe('kinds of events', () => {
  it('are those of docs/events.md', () => {
    const rows = readFileSync('docs/events.md', 'utf8').matchAll(/^\| `[\w-]+` \| ([^|]+) \|/gm);
    const names = [...rows].map(([, name = '']) => name.replace('…', '').trim());
    assert.deepEqual([...eventKinds], names.sort());
  });

  it('are names without the object', () => {
    assert.equal(kindOf('Add Pod default/web'), 'Add Pod');
    assert.equal(kindOf('Healing Resync'), 'Healing Resync');
    assert.equal(kindOf('Add Podium'), 'Add Podium');
  });

  it('show the key that caused an event, without the prefix of the agent', () => {
    const Origin = { Key: '/vnf-agent/contiv-ksr/k8s/pod/web/namespace/default' };
    const event = processedEvent(1, { Trace: { Origin } });
    assert.equal(subjectOf(event), 'k8s/pod/web/namespace/default');
    assert.equal(subjectOf({ ...event, IsFollowUp: true }), '');
    assert.equal(subjectOf(processedEvent(1)), '');
  });
});

describe('the filter of events', () => {
  const failed = processedEvent(1, {
    Name: 'Add Pod default/web',
    Description: 'Add Pod default/web\n* Container: abc',
    Handlers: [
      handlerCall('ipam', { Change: 'address 10.1.1.2' }),
      handlerCall('ipv4net', { ErrorStr: 'no lease' }),
      handlerCall('ipam', { Revert: true }),
    ],
    Trace: { Origin: { Container: 'abc' } },
  });
  const ok = processedEvent(2, {
    Handlers: [handlerCall('policy')],
    Trace: { Origin: { Key: '/vnf-agent/contiv-ksr/k8s/Policy/deny' } },
  });

  it('selects everything without arguments', () => {
    assert.equal(selects('', ok) && selects('', failed), true);
  });

  it('selects by kind, handler and failure', () => {
    assert.deepEqual([selects('kind=Add+Pod', failed), selects('kind=Add+Pod', ok)], [true, false]);
    assert.deepEqual([selects('handler=ipam', failed), selects('handler=ipam', ok)], [true, false]);
    assert.deepEqual([selects('failed=true', failed), selects('failed=true', ok)], [true, false]);
  });

  it('finds text in name, description, change, error and origin, in any case', () => {
    for (const text of ['DEFAULT/web', 'Container: abc', '10.1.1.2', 'No Lease'])
      assert.equal(selects(`text=${encodeURIComponent(text)}`, failed), true, text);
    assert.equal(selects('text=policy/DENY', ok), true);
    assert.equal(selects('text=lease', ok), false);
  });

  it('needs all arguments to match', () => {
    assert.equal(selects('kind=Add+Pod&handler=policy', failed), false);
  });
});

describe('the failure of an event', () => {
  it('is that of its handler, or of its transaction', () => {
    const event = processedEvent(1, { TxnErrorStr: 'KeyErrors: [a]' });
    assert.equal(failureOf(event), 'KeyErrors: [a]');
    const Handlers = [handlerCall('ipam', { ErrorStr: 'none free' })];
    assert.equal(failureOf({ ...event, Handlers }), 'ipam: none free');
    assert.equal(failureOf(processedEvent(1)), '');
  });

  it('was undone if handlers were reverted', () => {
    assert.equal(isReverted(processedEvent(1, { Handlers: [handlerCall('a')] })), false);
    const Handlers = [handlerCall('a'), handlerCall('a', { Revert: true })];
    assert.equal(isReverted(processedEvent(1, { Handlers })), true);
  });
});
